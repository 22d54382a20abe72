// Proves one rollout's records against each other: turns 1 … n once, each naming the one before, each
// judged, the context exactly what was said before, and an end that says what the turns say.

import { isDeepStrictEqual } from 'node:util';
import { FEEDBACK_RIGHT, FEEDBACK_WRONG } from '../domain/conversation.ts';
import { explain } from '../domain/errors.ts';
import type { RolloutId } from '../domain/ids.ts';
import { outcomeOf } from '../domain/outcome.ts';
import { discountedReturns, turnReward } from '../domain/reward.ts';
import type { EndRecord, RolloutRecord, VerdictRecord } from '../domain/trajectory.ts';
import type { TurnRecord } from '../domain/turn.ts';
import * as layout from './layout.ts';
import { FOREIGN, namesIn, type OnBreach } from './listing.ts';
import { decodeRecord } from './record-text.ts';
import type { Store, Stored } from './store.ts';
import { readText } from './write-once.ts';

/** What could be read of a rollout; whatever could not has been reported. */
export interface CheckedRollout {
  readonly id: RolloutId;
  readonly rollout: RolloutRecord;
  /** Index t − 1; undefined where the record is missing or broken. */
  readonly turns: readonly (Stored<TurnRecord> | undefined)[];
  readonly verdicts: readonly (VerdictRecord | undefined)[];
  readonly end: EndRecord | undefined;
}

/** Of a file that should hold a record, and may not be there. */
async function flawOf(path: string): Promise<string | undefined> {
  const text = await readText(path);
  const decoded = text === undefined ? undefined : decodeRecord('turn', null, text);
  return decoded && 'problem' in decoded && decoded.torn ? decoded.problem : undefined;
}

export async function checkRollout(
  store: Store,
  id: RolloutId,
  onBreach: OnBreach,
): Promise<CheckedRollout | undefined> {
  const folder = layout.rolloutFolder(id);
  const breach = (file: string, problem: string) => onBreach({ path: `${folder}/${file}`, problem });

  async function read<T>(file: string, get: Promise<Stored<T> | undefined>): Promise<Stored<T> | undefined> {
    try {
      const stored = await get;
      // The store takes a torn record that nothing stands on for none.
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

  // The end is read before the files are listed: what it names was there then, also in a run that is played.
  const end = await read(layout.END_FILE, store.getEnd(id));
  const files = (await namesIn(`${store.folder}/${folder}`)).map((name) => ({
    name,
    ...layout.parseRolloutFile(name),
  }));
  for (const file of files) if (file.kind === 'foreign') breach(file.name, FOREIGN);
  const count = Math.max(0, ...files.map((file) => (file.kind === 'turn' ? file.turn : 0)));
  const numbers = Array.from({ length: count }, (_, i) => i + 1);
  const has = (name: string) => files.some((file) => file.name === name);

  const [rollout, turns, verdicts] = await Promise.all([
    read(layout.ROLLOUT_FILE, store.getRollout(id)),
    Promise.all(numbers.map((turn) => read(layout.turnFile(turn), store.getTurn(id, turn)))),
    Promise.all(numbers.map((turn) => read(layout.verdictFile(turn), store.getVerdict(id, turn)))),
  ]);
  if (!rollout) return undefined;

  for (const turn of numbers) {
    if (!has(layout.turnFile(turn))) breach(layout.turnFile(turn), `is missing, though turn ${count} is there`);
  }
  for (const file of files) {
    if (file.kind === 'verdict' && !has(layout.turnFile(file.turn)))
      breach(file.name, 'judges a turn that is not there');
  }

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
    for (const problem of turnProblems(record)) say(problem);
    const feedback = feedbackProblem(record, verdicts[i - 1]?.record);
    if (feedback) say(feedback);
    previous = hash;
    tokens = record.contextLength + record.outputIds.length;
  });

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
    if (judged && verdict.record.of !== judged.hash)
      say(`judges another record: ${verdict.record.of}, not ${judged.hash}`);
  });

  const judged = verdicts.map((verdict) => verdict?.record);
  if (end) {
    const problems = endProblems(end.record, rollout.record, turns, judged);
    for (const problem of problems) breach(layout.END_FILE, problem);
    const broken = end.record.outcome === 'failed' || end.record.outcome === 'cancelled';
    for (let turn = end.record.turns.length + (broken ? 2 : 1); turn <= count; turn++) {
      // A workflow that was terminated leaves turns behind; one that is started again may end before it comes to them.
      const played = turns[turn - 1]?.record;
      if (broken && played && played.startedAt < end.record.finishedAt) continue;
      breach(layout.turnFile(turn), `was played after the end at turn ${end.record.turns.length}`);
    }
  }
  return { id, rollout: rollout.record, turns, verdicts: judged, end: end?.record };
}

function turnProblems(record: TurnRecord): string[] {
  const { outputIds, logprobs, versions, contextIds, maxNewTokens, versionStart, versionEnd } = record;
  const problems: string[] = [];
  if (logprobs.length !== outputIds.length)
    problems.push(`has ${logprobs.length} logprobs for ${outputIds.length} output tokens`);
  if (!logprobs.every(Number.isFinite)) problems.push('has a logprob that is not a number');
  const isId = (id: number) => Number.isSafeInteger(id) && id >= 0;
  if (!outputIds.every(isId) || !contextIds.every(isId)) problems.push('has a token id that is not one');
  if (outputIds.length > maxNewTokens)
    problems.push(`has ${outputIds.length} output tokens, more than its budget of ${maxNewTokens}`);
  let at = 0;
  const contiguous = versions.every(({ start, end }) => {
    const fits = start === at && end >= start;
    at = end;
    return fits;
  });
  if (!contiguous || at !== outputIds.length) problems.push('has version spans that do not cover its output');
  const [first, last] = [versions[0], versions.at(-1)];
  if (first && last && (first.version !== versionStart || last.version !== versionEnd)) {
    problems.push(`says versions ${versionStart} to ${versionEnd}; its spans say ${first.version} to ${last.version}`);
  }
  return problems;
}

/** What the model was told must be what the judge said. */
function feedbackProblem(record: TurnRecord, verdict: VerdictRecord | undefined): string | undefined {
  if (!verdict) return undefined;
  const [told, other] =
    verdict.verdict === 'right' ? [FEEDBACK_RIGHT, FEEDBACK_WRONG] : [FEEDBACK_WRONG, FEEDBACK_RIGHT];
  if (record.contextText.includes(told) && !record.contextText.includes(other)) return undefined;
  return `does not tell the model that turn ${record.turn - 1} was ${verdict.verdict}`;
}

function endProblems(
  end: EndRecord,
  { settings }: RolloutRecord,
  turns: readonly (Stored<TurnRecord> | undefined)[],
  verdicts: readonly (VerdictRecord | undefined)[],
): string[] {
  const problems: string[] = [];
  const differs = (what: string, says: unknown, is: unknown) => {
    if (!isDeepStrictEqual(says, is))
      problems.push(`says ${what} ${JSON.stringify(says)}; the records say ${JSON.stringify(is)}`);
  };
  const count = end.turns.length;
  end.turns.forEach((hash, i) => {
    const turn = turns[i];
    if (i >= turns.length) problems.push(`names a turn ${i + 1} that is not there`);
    else if (turn && turn.hash !== hash) problems.push(`names another turn ${i + 1}: ${hash}, not ${turn.hash}`);
  });
  differs('outcome', end.outcome, outcomeOf(end.stopReason));
  const said = verdicts.slice(0, count);
  if (said.length === count && said.every((verdict) => verdict !== undefined)) {
    const success = said.map(({ verdict }) => (verdict === 'undecided' ? null : verdict === 'right' ? 1 : 0));
    const rewards = success.flatMap((value) => (value === null ? [] : [turnReward(value === 1, settings)]));
    differs('success', end.success, success);
    differs('turn rewards', end.turnRewards, rewards);
    differs(
      'rewards',
      end.rewards,
      end.outcome === 'complete' ? discountedReturns(rewards, settings.turnDiscount) : [],
    );
    if (end.outcome === 'complete' && success.includes(null))
      problems.push('says complete, though a turn is undecided');
    if (end.stopReason === 'success' && success.at(-1) !== 1)
      problems.push('says success, though the last turn is not right');
    if (end.stopReason === 'undecided' && success.at(-1) !== null)
      problems.push('says undecided, though the last turn is decided');
  }
  if (end.outcome === 'complete' && count === 0) problems.push('says complete, though no turn was played');
  if (count > settings.numTurns) problems.push(`names ${count} turns, more than the ${settings.numTurns} to be played`);
  if (end.stopReason === 'max-turns' && count !== settings.numTurns) {
    problems.push(`says all turns were played: ${count}, not ${settings.numTurns}`);
  }
  if ((end.failure !== null) !== (end.outcome === 'failed'))
    problems.push('names a failure without having failed, or the reverse');
  return problems;
}
