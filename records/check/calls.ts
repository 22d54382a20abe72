// Proves the calls of tools in a rollout: each call that could be run has one record, of its own turn, tool and key; a tool that
// must not be called twice has an intent before it; and the reply to a turn is the one that the records of its calls give. With
// the format of the run's model the calls are also read out of the answer again. Not covered: what a tool gave, where nobody
// else knows it.

import { calledVerdict, callResult, callsInReply, type CallTexts } from '../../domain/rollout/calls.ts';
import { spelledMarkers } from '../../domain/tools/spelled-markers.ts';
import {
  callKey,
  type CallRecord,
  type CallResult,
  MAX_RECORDED_BYTES,
  type WrittenCall,
} from '../../domain/tools/tool.ts';
import { noEos } from '../../domain/rollout/turn-facts.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { differences } from './differences.ts';
import type { CheckTokenizer, CheckedRollout, Problem } from './checked.ts';
import { fileOf } from '../format/rollout-file.ts';

/** The line that stands for what is left out of a long output. */
const LEFT_OUT_BYTES = 64;

/** The calls that an answer holds; those of its record where only a tokenizer or a format that is not here could tell. */
export async function rightCalls(
  { rollout: { settings }, turns }: CheckedRollout,
  i: number,
  texts: CallTexts | undefined,
  tokenizer: CheckTokenizer | undefined,
): Promise<TurnRecord['calls']> {
  const { record } = turns[i]!;
  const { tools } = settings;
  if (!tools || record.asked || noEos(record.finish) || record.calls?.length === 0) return undefined;
  const before = turns.slice(0, i).flatMap((turn) => turn?.record ?? []);
  if (!texts || before.length < i) return record.calls;
  const decode = tokenizer && ((ids: readonly number[]) => tokenizer.decode(ids, { skipSpecialTokens: false }));
  const spelled = await spelledMarkers(record, tools.markers ?? [], decode);
  const right = spelled && callsInReply(record, before, settings, texts, spelled);
  if (right === null) return record.calls;
  return right && (JSON.parse(JSON.stringify(right)) as readonly WrittenCall[]);
}

/** The verdict on a turn that called tools. */
export function rightReply(
  { rollout, turns, verdicts, calls }: CheckedRollout,
  i: number,
  texts: CallTexts | undefined,
): object {
  const { record, hash } = turns[i]!;
  const verdict = verdicts[i]!;
  const { tools } = rollout.settings;
  const written = record.calls ?? [];
  const results = written.flatMap((call, n): CallResult[] => {
    const stored = calls.get(fileOf('call', i + 1, n + 1));
    if (tools && (stored || call.error !== undefined)) return [callResult(call, stored, tools)];
    // A record that is missing was reported.
    return verdict.calls?.[n] ? [verdict.calls[n]] : [];
  });
  if (!tools || results.length < written.length) return { turn: i + 1, verdict: 'called', of: hash };
  const before = turns.slice(0, i).map((one) => one?.record ?? {});
  const right = calledVerdict(record, hash, results, before, tools, texts ?? { resultMessage: asItStands });
  // It has no other field: nobody judges calls.
  const none = Object.fromEntries(Object.keys(verdict).map((field) => [field, undefined]));
  return { ...none, ...right, carried: verdict.carried };

  /** Another version may have told it in other words. */
  function asItStands(call: WrittenCall, output: string) {
    const message = verdict.messages?.[written.indexOf(call)];
    const isTold = [output, JSON.stringify(output).slice(1, -1)].some((text) => message?.content.includes(text));
    return message && isTold ? message : { role: 'tool', content: output };
  }
}

export function* callProblems(checked: CheckedRollout, skewMs: number): Generator<Problem> {
  const { id, rollout, turns, verdicts, calls, intents, files } = checked;
  const has = (name: string) => files.some((file) => file.name === name);
  const known = new Set<string>();
  for (const [i, turn] of turns.entries()) {
    if (!turn) continue;
    const { record, hash: of } = turn;
    if (!record.calls && !record.asked && verdicts[i]?.verdict === 'called')
      yield [fileOf('verdict', i + 1), 'says called, and its turn is an answer'];
    for (const [n, { name, error }] of (record.calls ?? []).entries()) {
      if (error !== undefined) continue;
      const [call, intent] = [fileOf('call', i + 1, n + 1), fileOf('intent', i + 1, n + 1)];
      const tool = rollout.settings.tools?.list.find((one) => one.name === name);
      if (!tool) {
        yield [fileOf('turn', i + 1), `calls ${JSON.stringify(name)}, which is no tool of its run`];
        continue;
      }
      known.add(call).add(intent);
      const place = { turn: i + 1, call: n + 1, of, name: tool.name, key: callKey(id, i + 1, n + 1) };
      const [made, declared] = [calls.get(call)?.record, intents.get(intent)?.record];
      if (declared) for (const problem of differences(declared, place)) yield [intent, problem];
      if (tool.effect !== 'once' && has(intent))
        yield [intent, `declares a call of ${tool.name}, and only a tool with the effect "once" has an intent`];
      if (!has(call) && verdicts[i]) yield [call, 'is missing, though the reply to its turn is there'];
      if (!made) continue;
      // The attempt that declared a call is the one that may call.
      const begun = declared ? { attempt: declared.attempt, startedAt: declared.at } : {};
      const right = { ...place, effect: tool.effect, tool: tool.fingerprint, bytes: bytesOf(made), ...begun };
      for (const problem of differences(made, right)) yield [call, problem];
      for (const problem of placeProblems(made, turn.record, turns[i + 1]?.record, skewMs)) yield [call, problem];
      if (tool.effect === 'once' && !has(intent))
        yield [intent, 'is missing, though the tool must not be called twice and was called'];
    }
  }
  for (const file of files) {
    if ((file.kind !== 'call' && file.kind !== 'intent') || known.has(file.name)) continue;
    // The record of its turn was reported.
    if (turns[file.turn - 1] === undefined && file.turn <= turns.length) continue;
    yield [file.name, `is of call ${file.call} of turn ${file.turn}, which is not there or could not be run`];
  }
}

/** The bytes of the whole output, of which a record holds a part. */
function bytesOf({ output, bytes }: CallRecord): number {
  const held = Buffer.byteLength(output);
  return held <= MAX_RECORDED_BYTES ? held : Math.max(bytes, MAX_RECORDED_BYTES + 1);
}

function* placeProblems(
  { startedAt, finishedAt, output }: CallRecord,
  { finishedAt: before }: TurnRecord,
  next: TurnRecord | undefined,
  skewMs: number,
): Generator<string> {
  if (Buffer.byteLength(output) > MAX_RECORDED_BYTES + LEFT_OUT_BYTES) yield 'holds more than a record does';
  if (finishedAt < startedAt) yield 'ends before it begins';
  if (before - startedAt > skewMs)
    yield `began at ${startedAt}, ${before - startedAt} ms before the reply that holds the call was finished`;
  if (next && finishedAt - next.startedAt > skewMs)
    yield `ended at ${finishedAt}, ${finishedAt - next.startedAt} ms after the next turn was begun`;
}
