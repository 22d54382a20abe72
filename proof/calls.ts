// Proves the calls of tools in a rollout: a reply that holds calls has the verdict `called`, and no other has; each call
// that could be run has one record, of its own turn, tool and key; the verdict says of each what its record says, and its
// messages tell it to the model. A tool that must not be called twice has an intent before its record.

import type { RolloutId } from '../domain/ids.ts';
import type { RolloutSettings } from '../domain/settings.ts';
import {
  callKey,
  type CallRecord,
  type CallResult,
  clipped,
  type IntentRecord,
  type ToolRecord,
} from '../domain/tool.ts';
import type { VerdictRecord } from '../domain/trajectory.ts';
import type { TurnRecord } from '../domain/turn.ts';
import { callFile, intentFile, turnFile, verdictFile } from '../storage/record/layout.ts';
import type { Store, Stored } from '../storage/store.ts';

type Read = <T extends object>(
  file: string,
  kind: 'call' | 'intent',
  get: Promise<Stored<T> | undefined>,
) => Promise<Stored<T> | undefined>;

export interface CallFile {
  readonly kind: 'call' | 'intent';
  readonly turn: number;
  readonly call: number;
}

interface Rollout {
  readonly id: RolloutId;
  readonly settings: RolloutSettings;
  readonly turns: readonly (Stored<TurnRecord> | undefined)[];
  readonly verdicts: readonly (VerdictRecord | undefined)[];
}

export async function checkCalls(
  store: Store,
  { id, settings, turns, verdicts }: Rollout,
  files: readonly CallFile[],
  read: Read,
  say: (file: string, problem: string) => void,
): Promise<void> {
  const { tools } = settings;
  const known = new Map<string, { readonly tool: ToolRecord; readonly of: string }>();
  for (const [i, turn] of turns.entries()) {
    const verdict = verdicts[i];
    const calls = turn?.record.calls;
    if (!turn) continue;
    if (calls && !tools) say(turnFile(i + 1), 'holds calls of tools, and its run has none');
    if (calls && (calls.length === 0 || turn.record.finish !== 'stop'))
      say(turnFile(i + 1), 'says that it holds calls of tools, and can hold none');
    if (verdict && (verdict.verdict === 'called') !== (calls !== undefined))
      say(verdictFile(i + 1), `says ${verdict.verdict}, and its turn ${calls ? 'calls tools' : 'is an answer'}`);
    for (const [place, { name, error }] of (calls ?? []).entries()) {
      const tool = tools?.list.find((one) => one.name === name);
      if (error === undefined && !tool)
        say(turnFile(i + 1), `calls ${JSON.stringify(name)}, which is no tool of its run`);
      if (error === undefined && tool) known.set(`${i + 1}.${place + 1}`, { tool, of: turn.hash });
    }
  }
  const records = new Map<string, Stored<CallRecord>>();
  const intents = new Set<string>();
  for (const { kind, turn, call } of files) {
    const file = kind === 'call' ? callFile(turn, call) : intentFile(turn, call);
    const place = `${turn}.${call}`;
    const own = known.get(place);
    // The record of its turn was reported.
    if (!own && turns[turn - 1] === undefined && turn <= turns.length) continue;
    if (!own) {
      say(file, `is of call ${call} of turn ${turn}, which is not there or could not be run`);
      continue;
    }
    const found =
      kind === 'call'
        ? await read<CallRecord>(file, 'call', store.getCall(id, turn, call))
        : await read<IntentRecord>(file, 'intent', store.getIntent(id, turn, call));
    if (!found) continue;
    for (const problem of problemsOf(found.record, own, callKey(id, turn, call), { turn, call })) say(file, problem);
    if (kind === 'call') records.set(place, found as Stored<CallRecord>);
    else intents.add(place);
  }
  for (const [place, { tool }] of known) {
    const [turn, call] = place.split('.').map(Number) as [number, number];
    const needed = verdicts[turn - 1] !== undefined;
    if (needed && !files.some((file) => file.kind === 'call' && file.turn === turn && file.call === call))
      say(callFile(turn, call), 'is missing, though the reply to its turn is there');
    if (tool.effect === 'once' && records.has(place) && !intents.has(place))
      say(intentFile(turn, call), 'is missing, though the tool must not be called twice and was called');
  }
  for (const [i, verdict] of verdicts.entries()) {
    if (verdict?.verdict !== 'called') continue;
    const calls = turns[i]?.record.calls ?? [];
    for (const problem of resultProblems(verdict, calls, (call) => records.get(`${i + 1}.${call}`), tools?.outputBytes))
      say(verdictFile(i + 1), problem);
  }
}

function problemsOf(
  record: CallRecord | IntentRecord,
  { tool, of }: { readonly tool: ToolRecord; readonly of: string },
  key: string,
  place: { readonly turn: number; readonly call: number },
): string[] {
  const problems: string[] = [];
  const differs = (what: string, says: unknown, is: unknown) => {
    if (says !== is) problems.push(`says the ${what} ${JSON.stringify(says)}; it is ${JSON.stringify(is)}`);
  };
  differs('turn', record.turn, place.turn);
  differs('call', record.call, place.call);
  differs('turn record', record.of, of);
  differs('tool', record.name, tool.name);
  differs('key', record.key, key);
  if (!('outcome' in record)) return problems;
  differs('effect', record.effect, tool.effect);
  differs('fingerprint of the tool', record.tool, tool.fingerprint);
  if (record.finishedAt < record.startedAt) problems.push('ends before it begins');
  const bytes = Buffer.byteLength(record.output);
  if (bytes > record.bytes && !record.output.includes('\ufffd'))
    problems.push(`says ${record.bytes} bytes, and has ${bytes}`);
  return problems;
}

function resultProblems(
  { calls: results = [], messages = [] }: VerdictRecord,
  calls: NonNullable<TurnRecord['calls']>,
  recordOf: (call: number) => Stored<CallRecord> | undefined,
  outputBytes = 0,
): string[] {
  if (results.length !== calls.length || messages.length !== calls.length)
    return [`has ${results.length} results and ${messages.length} messages for ${calls.length} calls`];
  return calls.flatMap(({ name, arguments: given, error }, i) => {
    const [is, message, record] = [results[i]!, messages[i]!, recordOf(i + 1)];
    const problems: string[] = [];
    const right = error === undefined ? record && ranAs(record, outputBytes) : REFUSED(error);
    if (right) {
      const wanted: CallResult = { name, arguments: given, ...right };
      for (const [field, value] of Object.entries(wanted) as [keyof CallResult, unknown][])
        if (is[field] !== value) problems.push(`says another ${field} of call ${i + 1} than its record`);
    }
    const [said] = [is.output, JSON.stringify(is.output).slice(1, -1)].filter((text) => message.content.includes(text));
    if (said === undefined) problems.push(`does not tell the model the output of call ${i + 1}`);
    return problems;
  });
}

type Rest = Omit<CallResult, 'name' | 'arguments'>;
const REFUSED = (error: string): Rest => ({ outcome: 'refused', effect: null, ms: null, output: error, of: null });

function ranAs({ record, hash }: Stored<CallRecord>, outputBytes: number): Rest {
  const { outcome, effect, output, startedAt, finishedAt } = record;
  return { outcome, effect, ms: finishedAt - startedAt, output: clipped(output, outputBytes), of: hash };
}
