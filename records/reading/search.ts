// A text in a run: in questions, feedback, answers and the judge's extracted answers. Streams; memory holds one turn. A
// turn's record is parsed only if its raw text holds the words, which saves nine tenths of the time.

import { UsageError } from '../../domain/errors/errors.ts';
import type { RolloutId } from '../../domain/run/ids.ts';
import { questionOf } from '../../domain/run/query.ts';
import { playedQueries } from '../run/played-queries.ts';
import { rolloutFolder, turnFile, verdictFile } from '../format/layout.ts';
import { type Hit, SEARCHED, type Searched } from '../../domain/run/hit.ts';
import type { Store } from '../store.ts';
import { rolloutsInOrder } from './trajectories.ts';

export interface SearchOptions {
  /** Default: everywhere. */
  readonly where?: readonly Searched[];
  /** Default false. */
  readonly matchCase?: boolean;
  /** Throws for a rollout's folder, relative to the run's, that is not to be read. */
  readonly guard?: (folder: string) => void;
  /** Ends the search. */
  readonly signal?: AbortSignal;
  /** Called for a record that cannot be read; the search goes on. */
  readonly onBroken?: (path: string, error: unknown) => void;
}

/** `wantedText`: a text that is not empty, or what finds it. Questions first, then the turns in data set order, of each sample the last attempt. */
export async function* searchRun(
  store: Store,
  wantedText: string | Finder,
  { where = SEARCHED, matchCase = false, guard = () => {}, signal, onBroken = () => {} }: SearchOptions = {},
): AsyncGenerator<Hit> {
  const isText = typeof wantedText === 'string';
  const find = isText ? finder(wantedText, matchCase) : wantedText;
  // Records hold texts as JSON: a text that is in one is in the record's own characters, escaped.
  const inRecord = isText ? finder(JSON.stringify(wantedText).slice(1, -1), matchCase) : () => true;
  const wanted = (place: Searched) => where.includes(place);
  if (wanted('question')) yield* questions(store, find, signal);
  const inTurns = wanted('answer') || wanted('feedback');
  if (!inTurns && !wanted('extracted')) return;
  for await (const id of rolloutsInOrder(store)) {
    if (signal?.aborted) return;
    try {
      guard(rolloutFolder(id));
    } catch (error) {
      onBroken(rolloutFolder(id), error);
      continue;
    }
    const turns = await store.readRecords(id, ({ text }) =>
      heldTurns(text, (raw) => inRecord(raw) !== undefined, inTurns),
    );
    for (const { turn, hit, judged } of turns) {
      const at = (place: Searched, found: Found | undefined) =>
        found ? [{ ...turnOf(id, turn), where: place, ...found }] : [];
      try {
        const record = hit ? (await store.getTurn(id, turn))?.record : undefined;
        if (record && turn > 1 && wanted('feedback')) yield* at('feedback', find(record.contextText));
        if (record && wanted('answer')) yield* at('answer', find(record.answer));
        const extracted =
          judged && wanted('extracted') ? (await store.getVerdict(id, turn))?.record.extracted : undefined;
        if (extracted !== undefined) yield* at('extracted', find(extracted));
      } catch (error) {
        if (error instanceof UsageError) throw error;
        onBroken(`${rolloutFolder(id)}/${turnFile(turn)}`, error);
      }
    }
  }
}

/** The turns of a rollout in order, and whether their records hold what is looked for. */
function heldTurns(
  text: (file: string) => string | undefined,
  holds: (raw: string) => boolean,
  inTurns: boolean,
): { readonly turn: number; readonly hit: boolean; readonly judged: boolean }[] {
  const held = (file: string) => {
    const raw = text(file);
    return raw === undefined ? undefined : holds(raw);
  };
  for (const turns: ReturnType<typeof heldTurns> = []; ;) {
    const turn = turns.length + 1;
    const hit = inTurns ? held(turnFile(turn)) : false;
    const judged = held(verdictFile(turn));
    if (hit === undefined || (judged === undefined && !inTurns)) return turns;
    turns.push({ turn, hit, judged: judged === true });
  }
}

async function* questions(store: Store, find: Finder, signal: AbortSignal | undefined): AsyncGenerator<Hit> {
  for await (const query of playedQueries(store)) {
    if (signal?.aborted) return;
    const found = find(questionOf(query));
    if (found) yield { query: query.queryId, sample: null, attempt: null, turn: null, where: 'question', ...found };
  }
}

const turnOf = ({ query, sample, attempt }: RolloutId, turn: number) => ({ query, sample, attempt, turn });

export type Found = Pick<Hit, 'count' | 'before' | 'found' | 'after'>;
export type Finder = (text: string) => Found | undefined;

export const AROUND_CHARS = 60;

function finder(needle: string, matchCase: boolean): Finder {
  const wanted = matchCase ? needle : needle.toLowerCase();
  return (text) => {
    const lower = matchCase ? text : text.toLowerCase();
    const first = lower.indexOf(wanted);
    if (first < 0) return undefined;
    let count = 0;
    for (let at = first; at >= 0; at = lower.indexOf(wanted, at + wanted.length)) count++;
    // A few letters change their length with their case: then the excerpt is of the lower text.
    const shown = lower.length === text.length ? text : lower;
    const end = first + wanted.length;
    return {
      count,
      before: shown.slice(Math.max(0, first - AROUND_CHARS), first),
      found: shown.slice(first, end),
      after: shown.slice(end, end + AROUND_CHARS),
    };
  };
}
