// Proves the calls of an agent's program: each is known by the hash of its request, extends the tokens of its parent or is a
// root, and its reply is the one that its answer gives; the rollout's end counts one sample for each leaf.

import { leavesOf } from '../../domain/samples/branches.ts';
import { callContext, type PlayedCall, playedCall } from '../../domain/context/call-context.ts';
import { templateVariables } from '../../domain/context/new-context.ts';
import { type AgentEntry, callIdOf, requestHash } from '../../domain/agent/index.ts';
import { CALLED, replyGiven, ENDPOINT_CALLS } from '../../domain/rollout/calls.ts';
import { callDepths, untrainedCalls } from '../../domain/rollout/call-credit.ts';
import { explain } from '../../domain/errors/errors.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { differences } from './differences.ts';
import type { CheckedRollout, Problem, ReplayFacts } from './checked.ts';
import { END_FILE, fileOf } from '../format/rollout-file.ts';

export async function* agentProblems(checked: CheckedRollout, facts: ReplayFacts): AsyncGenerator<Problem> {
  const { rollout, turns, end, agent, attempts } = checked;
  if (!rollout.settings.program) return;
  const calls = new Map<number, PlayedCall>();
  const ids = new Map<string, number>();
  for (const [i, turn] of turns.entries()) {
    if (!turn) continue;
    const file = fileOf('turn', i + 1);
    const { asked } = turn.record;
    if (!asked) {
      yield [file, 'answers no call, and its rollout is of an agent’s program'];
      continue;
    }
    const other = ids.get(asked.call);
    if (other !== undefined) yield [file, `answers call ${asked.call}, which turn ${other} answers`];
    ids.set(asked.call, i + 1);
    if (asked.parent !== null && !calls.has(asked.parent)) {
      // A parent that cannot be read was reported.
      if (asked.parent > i || turns[asked.parent - 1])
        yield [file, `extends turn ${asked.parent}, which is no call before it`];
      continue;
    }
    for await (const problem of problemsOfCall(checked, turn.record, calls, facts)) yield [file, problem];
  }
  if (agent) {
    const { turns: count, last, abandoned = [], callRewards = [] } = agent;
    const rewarded = callRewards.map(({ turn }) => turn);
    if ([last, ...abandoned, ...rewarded].some((turn) => turn > count))
      yield [fileOf('agent', attempts.length), `names a turn beyond its ${count}`];
  }
  yield* attemptProblems(checked);
  const records = turns.flatMap((turn) => turn?.record ?? []);
  if (!end || records.length < end.turns.length || records.some(({ asked }) => !asked)) return;
  const ended = records.slice(0, end.turns.length);
  const left = untrainedCalls(ended, rollout.settings);
  const { abandoned } = agent ?? {};
  const right = {
    branches: leavesOf(ended, [...(abandoned ?? []), ...left]).length,
    abandoned,
    untrained: left.length > 0 ? left : undefined,
    depths: callDepths(ended),
  };
  for (const problem of differences(end, right)) yield [END_FILE, problem];
}

/** One attempt ends at most, and it is the one that began last. */
function* attemptProblems({ attempts, files }: CheckedRollout): Generator<Problem> {
  const entries = files.filter(({ kind }) => kind === 'agent').length;
  let before: AgentEntry | undefined;
  for (const [i, attempt] of attempts.entries()) {
    const { entry, token, ended, scheduledAt, paused } = attempt;
    const file = fileOf('agent', entry);
    if (entry > entries) yield [file, `stands alone: ${entries} entries are there in all`];
    else if (before?.ended) yield [file, 'comes after the end of the agent'];
    else if (paused !== undefined) continue;
    else if (before && before.scheduledAt > scheduledAt)
      yield [file, 'is of an attempt that the one before it follows'];
    else if (ended && i === entry - 1 && before?.token !== token)
      yield [file, 'is the end of an attempt that another one has followed'];
    before = attempt;
  }
}

async function* problemsOfCall(
  { rollout }: CheckedRollout,
  record: TurnRecord,
  calls: Map<number, PlayedCall>,
  { tokenizer, calls: texts }: ReplayFacts,
): AsyncGenerator<string> {
  const asked = record.asked!;
  let call: PlayedCall;
  try {
    call = playedCall(record, (turn) => calls.get(turn));
  } catch (error) {
    return yield explain(error);
  }
  calls.set(record.turn, call);
  const found = requestHash(call.request);
  const right = { hash: found, call: callIdOf(found, asked.occurrence) };
  yield* differences(asked, right, 'its messages give');
  const { tools } = rollout.settings;
  const { reply } = record;
  if (tools?.format === ENDPOINT_CALLS) yield* differences(record, { reply: replyGiven(record, call.request) });
  else if (texts && tools && record.finish === 'stop' && reply && reply.stopped === undefined) {
    const read = texts.replyIn(record.outputText, record.contextText, tools.format, call.request.tools);
    yield* differences(record, { reply: read });
  }
  if (!tokenizer || record.trainable === false) return;
  const path = asked.parent === null ? [] : pathOf(calls, asked.parent);
  try {
    const form = { ...tools, variables: templateVariables(rollout) };
    const { ids, text, shared } = await callContext(call.request, path, tokenizer, form);
    yield* differences(
      { ...record, shared: asked.shared },
      { contextIds: ids, contextText: text, shared },
      'its messages give',
    );
  } catch (error) {
    yield `has a context that ${tokenizer.name} cannot make: ${explain(error)}`;
  }
}

function pathOf(calls: ReadonlyMap<number, PlayedCall>, turn: number): readonly PlayedCall[] {
  const path: PlayedCall[] = [];
  const byId = new Map([...calls.values()].map((call) => [call.id, call]));
  for (let at = calls.get(turn); at; at = at.parent === null ? undefined : byId.get(at.parent)) path.unshift(at);
  return path;
}

/** The verdict on a call: of none but the last one is there more to say. */
export function rightCallVerdict(
  { turns, agent, end }: CheckedRollout,
  i: number,
  environment: string | undefined,
): object {
  const of = turns[i]!.hash;
  const callReward = agent?.callRewards?.find(({ turn }) => turn === i + 1)?.reward;
  const isLast =
    agent !== undefined && i + 1 === agent.turns && end?.outcome !== 'failed' && end?.outcome !== 'cancelled';
  if (!isLast) return { turn: i + 1, ...CALLED, of, answer: undefined, callReward, calls: undefined };
  const { answer, reward, verified } = agent;
  const { undecided, note } = verified ?? {};
  return {
    turn: i + 1,
    of,
    environment: reward === undefined && undecided === undefined ? environment : undefined,
    callReward,
    calls: undefined,
    done: true,
    ...(reward !== undefined && { reward, rewards: agent.rewards }),
    ...(undecided !== undefined && { verdict: 'undecided', reason: undecided, note, reward: undefined }),
    ...(answer !== null && { answer: answer === turns[i]!.record.answer ? undefined : answer }),
  };
}
