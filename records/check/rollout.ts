// Proves one rollout's records against each other: turns 1 … n once, each naming the one before, each judged, each
// context equal to the conversation so far, and an end that follows from the turns.

import { explain } from '../../domain/errors/errors.ts';
import type { CallTexts } from '../../domain/rollout/calls.ts';
import type { RolloutId } from '../../domain/run/ids.ts';
import type { SayRecord } from '../../domain/text/say.ts';
import type { EndRecord, RolloutRecord, VerdictRecord } from '../../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { checkCalls } from './calls.ts';
import { checkChunks } from './chunks.ts';
import { answerTextProblems, contextProblems, type TextFacts } from './context.ts';
import { endProblems } from './end.ts';
import { lineageProblems, sayProblems } from './lineage.ts';
import { formProblem } from './shape.ts';
import { CLOCK_SKEW_MS, timeProblems } from './times.ts';
import { turnProblems } from './turn.ts';
import { verdictProblem } from './verdict.ts';
import * as layout from '../record/layout.ts';
import { FOREIGN } from '../record/listing.ts';
import type { RecordKind } from '../record/kinds.ts';
import { decodeRecord } from '../record/text.ts';
import type { OnBreach, Store, Stored } from '../store.ts';
import { readText } from '../disk/write-once.ts';

/** The readable records of a rollout; all others have been reported. */
export interface CheckedRollout {
  readonly id: RolloutId;
  readonly rollout: RolloutRecord;
  /** Index t − 1; undefined if the record is missing or broken. */
  readonly turns: readonly (Stored<TurnRecord> | undefined)[];
  readonly verdicts: readonly (VerdictRecord | undefined)[];
  /** A person's messages, by the turn that answers. */
  readonly messages: ReadonlyMap<number, Stored<SayRecord>>;
  readonly end: EndRecord | undefined;
}

const MOST_MISSING = 100;

export interface RolloutCheckFacts extends TextFacts {
  /** The creation time of the run. */
  readonly runAt?: number | undefined;
  /** The allowed difference between workers' clocks. */
  readonly clockSkewMs?: number | undefined;
  /** The formats of calls; undefined: replies are not read for calls again. */
  readonly calls?: CallTexts | undefined;
}

const isOfCalls = (verdict: VerdictRecord | undefined): boolean =>
  verdict?.verdict === 'called' || verdict?.calls !== undefined;

/** A file that should hold a record and may be absent. */
async function flawOf(path: string): Promise<string | undefined> {
  const text = await readText(path);
  const decoded = text === undefined ? undefined : decodeRecord('turn', null, text);
  return decoded && 'problem' in decoded && decoded.torn ? decoded.problem : undefined;
}

export async function checkRollout(
  store: Store,
  id: RolloutId,
  onBreach: OnBreach,
  facts: RolloutCheckFacts = {},
): Promise<CheckedRollout | undefined> {
  const folder = layout.rolloutFolder(id);
  const breach = (file: string, problem: string) => onBreach({ path: `${folder}/${file}`, problem });

  async function read<T extends object>(
    file: string,
    kind: RecordKind,
    get: Promise<Stored<T> | undefined>,
  ): Promise<Stored<T> | undefined> {
    try {
      const stored = await get;
      const { query, sample, attempt } = id;
      const problem = stored && (await formProblem(kind, { query, sample, attempt }, stored));
      if (problem) {
        breach(file, problem);
        return undefined;
      }
      // The store reports a torn record that no later record refers to as absent.
      const flaw = stored ? undefined : await flawOf(`${store.folder}/${folder}/${file}`);
      if (flaw) breach(file, flaw);
      return stored;
    } catch (error) {
      const message = explain(error);
      const at = message.indexOf(file);
      breach(file, at < 0 ? message : message.slice(at + file.length + 1));
      return undefined;
    }
  }

  // The end is read before the files are listed: the turns that it names existed by then, also in a running run.
  const end = await read(layout.END_FILE, 'end', store.getEnd(id));
  // A line that cannot be read was reported with the end.
  const names = await store.listFiles(id).catch(() => undefined);
  if (!names) return undefined;
  const flaw = await store.lineProblem(id);
  if (flaw !== undefined) onBreach({ path: folder, problem: flaw });
  const files = names.map((name) => ({
    name,
    ...layout.parseRolloutFile(name),
  }));
  for (const file of files) if (file.kind === 'foreign') breach(file.name, FOREIGN);
  const places = files.flatMap((file) => (file.kind === 'turn' ? [file.turn] : []));
  const highest = Math.max(0, ...places);
  // A file's name may hold any number: report a turn far ahead by itself, not every number before it as missing.
  const count = Math.min(highest, places.length + MOST_MISSING);
  if (count < highest) breach(layout.turnFile(highest), `stands alone: ${places.length} turns are there in all`);
  const numbers = Array.from({ length: count }, (_, i) => i + 1);
  const has = (name: string) => files.some((file) => file.name === name);

  const [rollout, turns, verdicts] = await Promise.all([
    read(layout.ROLLOUT_FILE, 'rollout', store.getRollout(id)),
    Promise.all(numbers.map((turn) => read(layout.turnFile(turn), 'turn', store.getTurn(id, turn)))),
    Promise.all(numbers.map((turn) => read(layout.verdictFile(turn), 'verdict', store.getVerdict(id, turn)))),
  ]);
  if (!rollout) {
    const [first] = names.toSorted();
    if (!has(layout.ROLLOUT_FILE))
      breach(layout.ROLLOUT_FILE, first ? `is missing, though ${first} is there` : 'is missing');
    return undefined;
  }

  for (const turn of numbers) {
    if (!has(layout.turnFile(turn))) breach(layout.turnFile(turn), `is missing, though turn ${count} is there`);
  }
  for (const file of files) {
    if (file.kind === 'verdict' && !has(layout.turnFile(file.turn)))
      breach(file.name, 'judges a turn that is not there');
  }

  const sayings = files.flatMap((file) => (file.kind === 'say' ? [file.turn] : []));
  const messages = new Map<number, Stored<SayRecord>>();
  for (const turn of sayings) {
    const said = await read(layout.sayFile(turn), 'say', store.getSay(id, turn));
    if (said) messages.set(turn, said);
  }
  const said = { rollout, turns, verdicts, messages, files: sayings, end: end?.record };
  for (const [file, problem] of [...sayProblems(said), ...(await lineageProblems(said))]) breach(file, problem);

  let previous: string | undefined = rollout.hash;
  let tokens: number | undefined = 0;
  turns.forEach((turn, i) => {
    const say = (problem: string) => breach(layout.turnFile(i + 1), problem);
    if (!turn) {
      previous = tokens = undefined;
      return;
    }
    const { record, hash } = turn;
    if (record.turn !== i + 1) say(`says it is turn ${record.turn}`);
    if (previous !== undefined && record.previous !== previous) {
      say(
        `does not follow ${i === 0 ? layout.ROLLOUT_FILE : layout.turnFile(i)}: it names ${record.previous}, that one is ${previous}`,
      );
    }
    const before: number | undefined = tokens;
    if (before !== undefined && record.contextLength !== before + record.contextIds.length) {
      say(`says ${record.contextLength} context tokens; there are ${before + record.contextIds.length}`);
    }
    for (const problem of turnProblems(record, id, rollout.record.settings)) say(problem);
    previous = hash;
    tokens = record.contextLength + record.outputIds.length;
  });

  for (const [i, turn] of turns.entries()) {
    if (!turn) continue;
    for (const problem of await answerTextProblems(turn.record, facts)) breach(layout.turnFile(i + 1), problem);
    const [earlier, verdict] = [turns[i - 1]?.record, verdicts[i - 1]?.record];
    const words = turn.record.said && { said: turn.record.said.text };
    const before = i === 0 ? null : earlier && verdict && { turn: earlier, verdict, ...words };
    for (const problem of await contextProblems(rollout.record, before, turn.record, facts))
      breach(layout.turnFile(i + 1), problem);
  }

  verdicts.forEach((verdict, i) => {
    const say = (problem: string) => breach(layout.verdictFile(i + 1), problem);
    const needed = i + 1 < count || i + 1 <= (end?.record.turns.length ?? 0);
    if (!has(layout.verdictFile(i + 1))) {
      if (needed && turns[i]) say(`is missing, though turn ${i + 1} was played and passed`);
      return;
    }
    if (!verdict) return;
    if (verdict.record.turn !== i + 1) say(`says it judges turn ${verdict.record.turn}`);
    const judged = turns[i];
    const unfit = verdictProblem(verdict.record, judged?.record.answer);
    if (unfit) say(unfit);
    if (judged && verdict.record.of !== judged.hash)
      say(`judges another record: ${verdict.record.of}, not ${judged.hash}`);
  });

  const chunks = files.flatMap((file) => (file.kind === 'chunk' ? [file] : []));
  if (chunks.length > 0) await checkChunks(store, id, chunks, turns, read, breach);
  const played = turns.map((turn) => turn?.record);
  const judged = verdicts.map((verdict) => verdict?.record);
  const calls = files.flatMap((file) => (file.kind === 'call' || file.kind === 'intent' ? [file] : []));
  const { settings } = rollout.record;
  if (settings.tools || calls.length > 0 || played.some((turn) => turn?.calls) || judged.some(isOfCalls)) {
    const { tokenizer, calls: texts, clockSkewMs = CLOCK_SKEW_MS } = facts;
    const decode = tokenizer && ((ids: readonly number[]) => tokenizer.decode(ids, { skipSpecialTokens: false }));
    const callFacts = { texts, decode, clockSkewMs };
    await checkCalls(store, { id, settings, turns, verdicts: judged }, calls, callFacts, read, breach);
  }
  const whole = { rollout: rollout.record, turns: played, verdicts: judged, end: end?.record };
  timeProblems(whole, facts.runAt, facts.clockSkewMs ?? CLOCK_SKEW_MS, breach);
  if (end) {
    const problems = endProblems(end.record, rollout.record, turns, judged);
    for (const problem of problems) breach(layout.END_FILE, problem);
    const broken = end.record.outcome === 'failed' || end.record.outcome === 'cancelled';
    for (let turn = end.record.turns.length + (broken ? 2 : 1); turn <= count; turn++) {
      // A terminated workflow leaves turns behind; a restarted one may end before it reaches them.
      const left = turns[turn - 1]?.record;
      if (broken && left && left.startedAt < end.record.finishedAt) continue;
      breach(layout.turnFile(turn), `was played after the end at turn ${end.record.turns.length}`);
    }
  }
  return { id, rollout: rollout.record, turns, verdicts: judged, messages, end: end?.record };
}
