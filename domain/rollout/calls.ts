// The calls of a reply: which of them are to be run, and what the model is told of each. Pure: a rollout is played by these
// rules, and `check` proves its records by them. A turn that called tools is no answer, and no environment is asked.

import type { AskedRequest, GivenReply } from '../agent/index.ts';
import { functionQueue } from '../names/queues.ts';
import type { Message } from '../query/query.ts';
import { USED_UP } from '../errors/refusals.ts';
import type { RolloutSettings } from './settings.ts';
import { readWithout } from '../tools/spelled-markers.ts';
import type {
  CallRecord,
  CallResult,
  CallToRun,
  GivenCall,
  ToolSchema,
  ToolSettings,
  WrittenCall,
} from '../tools/tool.ts';
import { clippedToBytes } from '../text/foreign-text.ts';
import type { VerdictRecord } from './trajectory.ts';
import { noEos } from './turn-facts.ts';
import type { TurnRecord } from './turn.ts';

/** Reads and writes calls in the format of a run's model. */
export interface CallTexts {
  /**
   * The calls in a reply, each with the reason if it cannot be run. Empty: the reply is an answer. `prompt`: the text before
   * it, which may have opened the model's thinking.
   */
  callsIn(text: string, prompt: string, tools: ToolSettings): readonly WrittenCall[];
  /** The same of calls that an endpoint gave apart from the text. */
  callsGiven(calls: readonly GivenCall[], tools: ToolSettings): readonly WrittenCall[];
  /** A reply to an agent's call, taken apart. `tools`: of its request. */
  replyIn(text: string, prompt: string, format: string, tools: readonly ToolSchema[]): GivenReply;
  /** The message that tells the model the output of a call. */
  resultMessage(call: WrittenCall, output: string, tools: ToolSettings): Message;
}

/** A call's record with its hash. */
interface StoredCall {
  readonly record: CallRecord;
  readonly hash: string;
}

/** The word in place of a form's name: an endpoint that takes messages gives the calls apart from the text. */
export const ENDPOINT_CALLS = 'endpoint';

/** On a call of an agent's program, whose reply is no answer of the rollout. */
export const CALLED = { verdict: 'called', reason: 'agent' } as const;

const LAST = 'No further call is run before your answer: give it now.';

/**
 * The calls of a reply; undefined if it is an answer. `before`: the turns before it; `spelled`: places of the reply where
 * ordinary tokens spell a marker, which open no call.
 */
export function callsInReply(
  { contextText, outputText, finish, toolCalls = [] }: Replied,
  before: readonly Pick<TurnRecord, 'calls'>[],
  { tools: own }: Pick<RolloutSettings, 'tools'>,
  texts: Pick<CallTexts, 'callsIn' | 'callsGiven'>,
  spelled: readonly number[],
): readonly WrittenCall[] | undefined {
  // A reply that was cut is an answer as it stands.
  if (!own || noEos(finish)) return undefined;
  const left = own.maxCalls - callsSince(before);
  if (left <= 0) return undefined;
  const calls =
    own.format === ENDPOINT_CALLS
      ? texts.callsGiven(toolCalls, own)
      : readWithout(outputText, spelled, (text) => texts.callsIn(text, contextText, own));
  if (calls.length === 0) return undefined;
  return calls.map((call, i) => (i < left ? call : { ...call, error: USED_UP }));
}

type Replied = Pick<TurnRecord, 'contextText' | 'outputText' | 'finish' | 'toolCalls'>;

/** The reply to an agent's call, of an endpoint that gives calls and thoughts apart; undefined where the answer is all of it. */
export function replyGiven(
  { outputText, finish, reasoning, toolCalls }: Pick<TurnRecord, 'outputText' | 'finish' | 'reasoning' | 'toolCalls'>,
  { limits }: Pick<AskedRequest, 'limits'>,
): GivenReply | undefined {
  if (!toolCalls || noEos(finish) || limits.toolChoice === 'none') return undefined;
  const calls = toolCalls.map((call) => ({ name: call.name, arguments: call.arguments }));
  return { text: outputText, ...(reasoning !== undefined && { reasoning }), calls };
}

/** The calls since the last answer. */
function callsSince(turns: readonly Pick<TurnRecord, 'calls'>[]): number {
  let count = 0;
  for (let i = turns.length - 1; i >= 0 && turns[i]!.calls; i--) count += turns[i]!.calls!.length;
  return count;
}

export function callsToRun(run: string, calls: readonly WrittenCall[], { list }: ToolSettings): CallToRun[] {
  return calls.flatMap(({ name, error }, i) => {
    const tool = list.find((one) => one.name === name);
    if (error !== undefined || !tool) return [];
    const { name: called, door, effect } = tool;
    const queue = door === 'function' && { queue: functionQueue(run) };
    return [{ call: i + 1, name: called, code: door === 'python', pure: effect === 'pure', ...queue }];
  });
}

/** The result of one call; `stored`: its record, undefined for a call that could not be run. */
export function callResult(call: WrittenCall, stored: StoredCall | undefined, own: ToolSettings): CallResult {
  const written = { name: call.name, arguments: call.arguments };
  if (!stored) return { ...written, outcome: 'refused', effect: null, ms: null, output: call.error ?? '', of: null };
  const { outcome, effect, output, trace, startedAt, finishedAt } = stored.record;
  const shown = clippedToBytes(output, own.outputBytes);
  const traced = trace === undefined ? {} : { trace };
  return {
    ...written,
    outcome,
    effect,
    ms: finishedAt - startedAt,
    output: shown,
    ...traced,
    of: stored.hash,
  };
}

/** The reply to a turn that called tools. `of`: the hash of its record; `results`: one for each of its calls. */
export function calledVerdict(
  { turn, calls = [] }: Pick<TurnRecord, 'turn' | 'calls'>,
  of: string,
  results: readonly CallResult[],
  before: readonly Pick<TurnRecord, 'calls'>[],
  own: ToolSettings,
  texts: Pick<CallTexts, 'resultMessage'>,
): VerdictRecord {
  const isUsedUp = callsSince([...before, { calls }]) >= own.maxCalls;
  const messages = calls.map((call, i) => {
    const { output } = results[i]!;
    const isLast = i === calls.length - 1 && isUsedUp;
    return texts.resultMessage(call, isLast ? `${output}\n\n${LAST}` : output, own);
  });
  const tookMs = results.reduce((sum, { ms }) => sum + (ms ?? 0), 0);
  return { turn, verdict: 'called', reason: 'tools', messages, of, tookMs, calls: results };
}
