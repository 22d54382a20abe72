// Proves one rollout's records: turns 1 … n once, each judged, nothing beside them; and each record is the one that the rules
// of the rollout give (replay.ts).

import { explain } from '../../domain/errors/errors.ts';
import type { AgentEntry } from '../../domain/agent/index.ts';
import { mayRetry } from '../../domain/rollout/ending.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import type { EndRecord, RolloutRecord, VerdictRecord } from '../../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import * as layout from '../format/layout.ts';
import { FOREIGN } from '../in-flight/listing.ts';
import type { NameOf, RolloutKind } from '../format/kinds.ts';
import { decodeRecord } from '../format/text.ts';
import { type IsOlder, isOlder, olderAmong } from '../../domain/weights/weight-version.ts';
import type { OnBreach, RolloutFiles, Store, Stored } from '../store.ts';
import { openWeightsLedger } from '../run/weights.ts';
import { expertsProblems } from './experts.ts';
import { replayProblems } from './replay.ts';
import { formProblem, type CheckedRollout, type ReplayFacts } from './checked.ts';
import { END_FILE, fileOf, parseRolloutFile, ROLLOUT_FILE, type RolloutFile } from '../format/rollout-file.ts';
import { readText } from '../places/files.ts';

const MOST_MISSING = 100;

export async function checkRollout(
  store: Store,
  id: RolloutId,
  onBreach: OnBreach,
  facts: ReplayFacts = {},
): Promise<CheckedRollout | undefined> {
  const folder = layout.rolloutFolder(id);
  const breach = (file: string, problem: string) => onBreach({ path: `${folder}/${file}`, problem });
  const { query, sample, attempt } = id;

  /** The record, or its fault; neither for one that is not there. */
  async function read(name: string): Promise<Stored<object> | string | undefined> {
    const { kind, ...at } = parseRolloutFile(name) as Extract<RolloutFile, { readonly kind: RolloutKind }>;
    try {
      const stored = await store.get(kind, ...([id, ...Object.values(at)] as NameOf<typeof kind>));
      if (stored) return formProblem(kind, { query, sample, attempt }, stored) ?? stored;
      // The store reports a torn record that no later record refers to as absent.
      return await flawOf(`${store.folder}/${folder}/${name}`);
    } catch (error) {
      const message = explain(error);
      const at = message.indexOf(name);
      return at < 0 ? message : message.slice(at + name.length + 1);
    }
  }

  // The end is read before the files are listed: the turns that it names existed by then, also in a running run.
  const ended = await read(END_FILE);
  // A line that cannot be read was reported with the end.
  const listed = await store.readRecords(id, namesAndFlaw).catch(() => undefined);
  if (typeof ended === 'string') breach(END_FILE, ended);
  if (!listed) return undefined;
  const { names, flaw } = listed;
  if (flaw !== undefined) onBreach({ path: folder, problem: flaw });
  const all = names.map((name) => ({ name, ...parseRolloutFile(name) }));
  for (const file of all) if (file.kind === 'foreign') breach(file.name, FOREIGN);
  const files = all.filter(({ kind }) => kind !== 'foreign' && kind !== 'harmless');
  const places = files.flatMap((file) => (file.kind === 'turn' ? [file.turn] : []));
  const highest = Math.max(0, ...places);
  // A file's name may hold any number: report a turn far ahead by itself, not every number before it as missing.
  const count = Math.min(highest, places.length + MOST_MISSING);
  if (count < highest) breach(fileOf('turn', highest), `stands alone: ${places.length} turns are there in all`);

  const found = new Map<string, Stored<object>>();
  if (typeof ended === 'object') found.set(END_FILE, ended);
  const rest = files.filter(({ kind }) => kind !== 'end');
  const records = await Promise.all(rest.map(({ name }) => read(name)));
  for (const [i, one] of records.entries()) {
    if (typeof one === 'string') breach(rest[i]!.name, one);
    else if (one) found.set(rest[i]!.name, one);
  }
  const has = (name: string) => files.some((file) => file.name === name);
  const get = <T>(name: string) => found.get(name) as Stored<T> | undefined;
  const rollout = get<RolloutRecord>(ROLLOUT_FILE);
  if (!rollout) {
    const [first] = names.toSorted();
    if (!has(ROLLOUT_FILE)) breach(ROLLOUT_FILE, first ? `is missing, though ${first} is there` : 'is missing');
    return undefined;
  }
  const numbers = Array.from({ length: count }, (_, i) => i + 1);
  function of<T>(kind: RolloutFile['kind']): Map<string, Stored<T>> {
    const names = files.flatMap((file) => (file.kind === kind && found.has(file.name) ? [file.name] : []));
    return new Map(names.map((name) => [name, get<T>(name)!]));
  }
  const attempts = [...of<AgentEntry>('agent').values()]
    .map(({ record }) => record)
    .toSorted((a, b) => a.entry - b.entry);
  const checked: CheckedRollout = {
    id,
    rollout: rollout.record,
    hash: rollout.hash,
    turns: numbers.map((turn) => get<TurnRecord>(fileOf('turn', turn))),
    verdicts: numbers.map((turn) => get<VerdictRecord>(fileOf('verdict', turn))?.record),
    end: get<EndRecord>(END_FILE)?.record,
    agent: attempts.at(-1)?.ended,
    attempts,
    chunks: of('chunk'),
    messages: of('say'),
    calls: of('call'),
    intents: of('intent'),
    files,
  };

  for (const [file, problem] of gapProblems(checked)) breach(file, problem);
  for await (const [file, problem] of replayProblems(checked, { ...facts, weightsOrder: weightsOrder(store.folder) }))
    breach(file, problem);
  for await (const [file, problem] of expertsProblems(store, checked)) breach(file, problem);
  for await (const problem of attemptProblems(store, id)) breach(ROLLOUT_FILE, problem);
  return checked;
}

/** Turns and verdicts that should be there, and verdicts of turns that are not. */
function* gapProblems({ files, turns, end }: CheckedRollout): Generator<readonly [file: string, problem: string]> {
  const names = new Set(files.map(({ name }) => name));
  const count = turns.length;
  const judgedTurns = Math.max(count - 1, end?.turns.length ?? 0);
  for (const [i, stored] of turns.entries()) {
    const turn = i + 1;
    if (!names.has(fileOf('turn', turn))) {
      // A call of an agent that waits for its answer has no turn yet.
      if (!names.has(fileOf('asked', turn))) yield [fileOf('turn', turn), `is missing, though turn ${count} is there`];
      continue;
    }
    const mustBeJudged = turn <= judgedTurns && stored && (end || !stored.record.asked);
    if (mustBeJudged && !names.has(fileOf('verdict', turn)))
      yield [fileOf('verdict', turn), `is missing, though turn ${turn} was played and passed`];
  }
  for (const file of files)
    if (file.kind === 'verdict' && !names.has(fileOf('turn', file.turn)))
      yield [file.name, 'judges a turn that is not there'];
}

async function* attemptProblems(store: Store, { attempt, ...id }: RolloutId): AsyncGenerator<string> {
  if (attempt === 1) return;
  const before = { ...id, attempt: attempt - 1 };
  // Unreadable records are reported by the check of their rollout.
  if ((await store.get('rollout', before).catch(() => null)) === undefined)
    yield `is attempt ${attempt}, and there is no attempt ${before.attempt}`;
  const outcome = (await store.get('end', before).catch(() => undefined))?.record.outcome;
  if (outcome && !mayRetry(outcome)) yield `is attempt ${attempt}, and attempt ${before.attempt} is ${outcome}`;
}

/** A file that should hold a record and may be absent. */
async function flawOf(path: string): Promise<string | undefined> {
  const text = await readText(path);
  const decoded = text === undefined ? undefined : decodeRecord('turn', null, text);
  return decoded && 'problem' in decoded && decoded.torn ? decoded.problem : undefined;
}

const namesAndFlaw = ({ names, line }: RolloutFiles) => ({ names: names(), flaw: line?.problem() });

/** Of weights that cannot be read the labels tell. */
const weightsOrder = (runFolder: string) => async (): Promise<IsOlder> => {
  const ledger = openWeightsLedger(runFolder);
  return ledger.read().then(
    ({ entries }) => olderAmong(entries),
    () => isOlder,
  );
};
