// Proves the calls of tools in a rollout: a reply that holds calls has the verdict `called`, and no other has; each call
// that could be run has one record, of its own turn, tool and key; the verdict says of each what its record says, and its
// messages tell it to the model. A tool that must not be called twice has an intent before its record. With the format of
// the run's model the calls are also read out of the reply again. Not covered: what a tool gave, where nobody else knows it.

import { isDeepStrictEqual } from 'node:util';
import { calledVerdict, callResult, callsOf, type CallTexts } from '../../domain/rollout/calls.ts';
import type { RolloutId } from '../../domain/run/ids.ts';
import type { RolloutSettings } from '../../domain/run/settings.ts';
import { spelledMarkers } from '../../domain/text/spelled-markers.ts';
import { callKey, type CallRecord, type IntentRecord, type ToolRecord } from '../../domain/tools/tool.ts';
import type { VerdictRecord } from '../../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { callFile, intentFile, turnFile, verdictFile } from '../record/layout.ts';
import type { Store, Stored } from '../store.ts';
import { callRecordProblems, callTimeProblems, intentProblems, resultProblems } from './call-records.ts';

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

export interface CallFacts {
  /** The formats of calls; undefined: replies are not read again. */
  readonly texts: CallTexts | undefined;
  /** As text, with special tokens. Undefined: without the model's tokenizer. */
  readonly decode: ((ids: readonly number[]) => Promise<string>) | undefined;
  readonly clockSkewMs: number;
}

/** A call that could be run. */
interface Known {
  readonly tool: ToolRecord;
  readonly of: string;
  readonly turn: number;
  readonly call: number;
}

type Say = (file: string, problem: string) => void;

export async function checkCalls(
  store: Store,
  rollout: Rollout,
  files: readonly CallFile[],
  facts: CallFacts,
  read: Read,
  say: Say,
): Promise<void> {
  const { id, settings, turns, verdicts } = rollout;
  const { tools } = settings;
  const { texts, clockSkewMs } = facts;
  const known = await knownCalls(rollout, facts, say);
  const records = new Map<string, Stored<CallRecord>>();
  const intents = new Map<string, IntentRecord>();
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
    const key = callKey(id, turn, call);
    if (kind === 'call') {
      const found = await read<CallRecord>(file, 'call', store.getCall(id, turn, call));
      if (!found) continue;
      for (const problem of callRecordProblems(found.record, own, key)) say(file, problem);
      records.set(place, found);
    } else {
      const found = await read<IntentRecord>(file, 'intent', store.getIntent(id, turn, call));
      if (!found) continue;
      for (const problem of intentProblems(found.record, own, key)) say(file, problem);
      intents.set(place, found.record);
    }
  }
  for (const [place, { tool, turn, call }] of known) {
    const [record, intent] = [records.get(place)?.record, intents.get(place)];
    const has = (kind: CallFile['kind']) =>
      files.some((file) => file.kind === kind && file.turn === turn && file.call === call);
    if (verdicts[turn - 1] && !has('call'))
      say(callFile(turn, call), 'is missing, though the reply to its turn is there');
    if (tool.effect === 'once' && record && !has('intent'))
      say(intentFile(turn, call), 'is missing, though the tool must not be called twice and was called');
    if (intent && record && (intent.attempt !== record.attempt || intent.at !== record.startedAt))
      say(callFile(turn, call), 'was not written by the attempt that declared its call, which alone may call');
    if (record) {
      const [before, after] = [turns[turn - 1]?.record.finishedAt, turns[turn]?.record.startedAt];
      for (const problem of callTimeProblems(record, before, after, clockSkewMs)) say(callFile(turn, call), problem);
    }
  }
  for (const [i, verdict] of verdicts.entries()) {
    const turn = turns[i];
    if (verdict?.verdict !== 'called' || !turn || !tools) continue;
    const calls = turn.record.calls ?? [];
    const results = calls.map((call, n) => {
      const stored = records.get(`${i + 1}.${n + 1}`);
      // A record that is missing was reported.
      return call.error === undefined && !stored ? undefined : callResult(call, stored, tools);
    });
    for (const problem of resultProblems(verdict, results)) say(verdictFile(i + 1), problem);
    const before = turns.slice(0, i).map((one) => one?.record ?? {});
    if (!texts || results.includes(undefined)) continue;
    const wanted = calledVerdict(turn.record, turn.hash, results as never, before, tools, texts);
    if (!isDeepStrictEqual(verdict.messages, wanted.messages))
      say(verdictFile(i + 1), 'tells the model another text than the results of its calls give');
  }
}

/** The calls that could be run, by turn and place; says what is wrong with the turns that hold them. */
async function knownCalls({ settings, turns, verdicts }: Rollout, { texts, decode }: CallFacts, say: Say) {
  const { tools } = settings;
  const known = new Map<string, Known>();
  for (const [i, turn] of turns.entries()) {
    if (!turn) continue;
    const verdict = verdicts[i];
    const { calls, finish } = turn.record;
    const file = turnFile(i + 1);
    if (calls && !tools) say(file, 'holds calls of tools, and its run has none');
    if (calls && (calls.length === 0 || finish !== 'stop'))
      say(file, 'says that it holds calls of tools, and can hold none');
    if (verdict && (verdict.verdict === 'called') !== (calls !== undefined))
      say(verdictFile(i + 1), `says ${verdict.verdict}, and its turn ${calls ? 'calls tools' : 'is an answer'}`);
    for (const [place, { name, error }] of (calls ?? []).entries()) {
      if (error !== undefined) continue;
      const tool = tools?.list.find((one) => one.name === name);
      if (!tool) say(file, `calls ${JSON.stringify(name)}, which is no tool of its run`);
      else known.set(`${i + 1}.${place + 1}`, { tool, of: turn.hash, turn: i + 1, call: place + 1 });
    }
    const before = turns.slice(0, i).map((one) => one?.record);
    if (!texts || before.includes(undefined)) continue;
    const spelled = await spelledMarkers(turn.record, tools?.markers ?? [], decode);
    // Whether a marker is a token, the tokenizer alone knows here.
    if (!spelled) continue;
    const wanted = callsOf(turn.record, before as TurnRecord[], settings, texts, spelled);
    if (!isDeepStrictEqual(plain(calls), plain(wanted)))
      say(file, `says ${shown(calls)}; its reply holds ${shown(wanted)}`);
  }
  return known;
}

const plain = (calls: TurnRecord['calls']): unknown => calls && JSON.parse(JSON.stringify(calls));

function shown(calls: TurnRecord['calls']): string {
  if (!calls) return 'no calls';
  const each = calls.map(({ name, arguments: given }) => `${name ?? 'a broken call'} ${given ?? ''}`.trim());
  return `the calls ${JSON.stringify(each).slice(0, 200)}`;
}
