// Proves the record of one call, its intent, and the results that the reply to its turn holds. Pure. Not covered: a record
// whose output and every later text were changed alike.

import { isDeepStrictEqual } from 'node:util';
import {
  type CallRecord,
  type CallResult,
  type IntentRecord,
  MAX_RECORDED_BYTES,
  type ToolRecord,
} from '../../domain/tools/tool.ts';
import type { VerdictRecord } from '../../domain/rollout/trajectory.ts';

/** The call as its turn and its run have it. */
interface Place {
  readonly tool: ToolRecord;
  /** Hash of the turn's record. */
  readonly of: string;
  readonly turn: number;
  readonly call: number;
}

/** The line that stands for what is left out of a long output. */
const LEFT_OUT_BYTES = 64;

export function intentProblems(intent: IntentRecord | CallRecord, place: Place, key: string): string[] {
  const { tool, of, turn, call } = place;
  return [
    ...differs('turn', intent.turn, turn),
    ...differs('call', intent.call, call),
    ...differs('turn record', intent.of, of),
    ...differs('tool', intent.name, tool.name),
    ...differs('key', intent.key, key),
    ...(tool.effect !== 'once' && !('outcome' in intent)
      ? [`declares a call of ${tool.name}, which may be called again: only a tool with the effect "once" has an intent`]
      : []),
  ];
}

export function callRecordProblems(record: CallRecord, place: Place, key: string): string[] {
  const { tool } = place;
  const problems = [
    ...intentProblems(record, place, key),
    ...differs('effect', record.effect, tool.effect),
    ...differs('fingerprint of the tool', record.tool, tool.fingerprint),
  ];
  if (record.finishedAt < record.startedAt) problems.push('ends before it begins');
  const bytes = Buffer.byteLength(record.output);
  const isWhole = record.bytes <= MAX_RECORDED_BYTES;
  if (isWhole ? bytes !== record.bytes : bytes > MAX_RECORDED_BYTES + LEFT_OUT_BYTES)
    problems.push(`says ${record.bytes} bytes, and has ${bytes}`);
  return problems;
}

/** `before`: the end of the reply that holds the call; `after`: the start of the next turn. */
export function callTimeProblems(
  { startedAt, finishedAt }: CallRecord,
  before: number | undefined,
  after: number | undefined,
  skewMs: number,
): string[] {
  const problems: string[] = [];
  if (before !== undefined && before - startedAt > skewMs)
    problems.push(`began at ${startedAt}, ${before - startedAt} ms before the reply that holds the call was finished`);
  if (after !== undefined && finishedAt - after > skewMs)
    problems.push(`ended at ${finishedAt}, ${finishedAt - after} ms after the next turn was begun`);
  return problems;
}

/** The fields of a reply to calls; nobody judged. */
const FIELDS: ReadonlySet<string> = new Set([
  'turn',
  'verdict',
  'reason',
  'messages',
  'of',
  'tookMs',
  'calls',
  'carried',
]);

/** `results`: as the records say; undefined where a record is missing. */
export function resultProblems(verdict: VerdictRecord, results: readonly (CallResult | undefined)[]): string[] {
  const { calls = [], messages = [], reason, tookMs } = verdict;
  const alien = Object.keys(verdict).filter((field) => !FIELDS.has(field));
  const problems = alien.map((field) => `has ${field}, though nobody judges calls`);
  problems.push(...differs('reason', reason, 'tools'));
  if (calls.length !== results.length || messages.length !== results.length)
    return [...problems, `has ${calls.length} results and ${messages.length} messages for ${results.length} calls`];
  for (const [i, wanted] of results.entries()) {
    const is = calls[i]!;
    for (const [field, value] of Object.entries(wanted ?? {}) as [keyof CallResult, unknown][])
      if (!isDeepStrictEqual(is[field], value))
        problems.push(`says another ${field === 'of' ? 'hash' : field} of call ${i + 1} than its record`);
    const { content } = messages[i]!;
    if (!content.includes(is.output) && !content.includes(JSON.stringify(is.output).slice(1, -1)))
      problems.push(`does not tell the model the output of call ${i + 1}`);
  }
  problems.push(
    ...differs(
      'duration',
      tookMs,
      calls.reduce((sum, { ms }) => sum + (ms ?? 0), 0),
    ),
  );
  return problems;
}

function differs(what: string, says: unknown, is: unknown): string[] {
  return says === is ? [] : [`says the ${what} ${JSON.stringify(says)}; it is ${JSON.stringify(is)}`];
}
