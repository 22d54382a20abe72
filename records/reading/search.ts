// A text in a run: in questions, feedback, answers and the judge's extracted answers; upper and lower case are the same.
// Streams; memory holds one turn. A turn's record is parsed only if its raw text holds the words, which saves nine tenths
// of the time.

import type { RolloutId } from '../../domain/names/ids.ts';
import { questionOf } from '../../domain/query/query.ts';
import { playedQueries } from '../run/queries.ts';
import { rolloutFolder } from '../format/layout.ts';
import type { Hit } from '../../domain/run/hit.ts';
import type { Store } from '../store.ts';
import { rolloutsInOrder } from './trajectories.ts';
import { fileOf } from '../format/rollout-file.ts';

export interface SearchOptions {
  /** Throws for a rollout's folder, relative to the run's, that is not to be read. */
  readonly guard?: (folder: string) => void;
  /** Ends the search. */
  readonly signal?: AbortSignal;
  /** Called for a record that cannot be read; the search goes on. */
  readonly onBroken?: (path: string, error: unknown) => void;
}

/** `wanted` is not empty. Questions first, then the turns in data set order, of each sample the last attempt. */
export async function* searchRun(
  store: Store,
  wanted: string,
  { guard = () => {}, signal, onBroken = () => {} }: SearchOptions = {},
): AsyncGenerator<Hit> {
  const find = finder(wanted);
  // Records hold texts as JSON: a text that is in one is in the record's own characters, escaped.
  const inRecord = finder(JSON.stringify(wanted).slice(1, -1));
  yield* questions(store, find, signal);
  for await (const id of rolloutsInOrder(store)) {
    if (signal?.aborted) return;
    try {
      guard(rolloutFolder(id));
    } catch (error) {
      onBroken(rolloutFolder(id), error);
      continue;
    }
    const turns = await store.readRecords(id, ({ text }) => heldTurns(text, (raw) => inRecord(raw) !== undefined));
    for (const { turn, hit, judged } of turns) {
      const at = (where: Hit['where'], found: Found | undefined) =>
        found ? [{ ...turnOf(id, turn), where, ...found }] : [];
      try {
        const record = hit ? (await store.get('turn', id, turn))?.record : undefined;
        if (record && turn > 1) yield* at('feedback', find(record.contextText));
        if (record) yield* at('answer', find(record.answer));
        const extracted = judged ? (await store.get('verdict', id, turn))?.record.extracted : undefined;
        if (extracted !== undefined) yield* at('extracted', find(extracted));
      } catch (error) {
        onBroken(`${rolloutFolder(id)}/${fileOf('turn', turn)}`, error);
      }
    }
  }
}

/** The turns of a rollout in order, and whether their records hold what is looked for. */
function heldTurns(
  text: (file: string) => string | undefined,
  holds: (raw: string) => boolean,
): { readonly turn: number; readonly hit: boolean; readonly judged: boolean }[] {
  const held = (file: string) => {
    const raw = text(file);
    return raw === undefined ? undefined : holds(raw);
  };
  for (const turns: ReturnType<typeof heldTurns> = []; ;) {
    const turn = turns.length + 1;
    const hit = held(fileOf('turn', turn));
    if (hit === undefined) return turns;
    turns.push({ turn, hit, judged: held(fileOf('verdict', turn)) === true });
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

type Found = Pick<Hit, 'count' | 'before' | 'found' | 'after'>;
type Finder = (text: string) => Found | undefined;

const AROUND_CHARS = 60;

function finder(needle: string): Finder {
  const wanted = needle.toLowerCase();
  return (text) => {
    const lower = text.toLowerCase();
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
