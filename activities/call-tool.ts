// Runs one call of a tool, and stores what came of it: the first record stands, and a retry returns it. A tool that must
// not be called twice is called only by the one that wrote the intent; an intent without a record is an unknown outcome,
// which fails the rollout by name. A tool that cannot do its work is tried again, and never becomes a result.

import { Context } from '@temporalio/activity';
import { EverturnError, explain, StoreError, ToolError } from '../domain/errors/errors.ts';
import type { JsonObject } from '../domain/text/json.ts';
import type { Called, CallReference } from '../domain/rollout/rollout-facts.ts';
import {
  callKey,
  type CallRecord,
  type IntentRecord,
  MAX_RECORDED_BYTES,
  type ToolRecord,
  type ToolSettings,
} from '../domain/tools/tool.ts';
import { clippedToBytes } from '../domain/text/foreign-text.ts';
import type { Store } from '../records/store.ts';
import type { ToolAnswer, ToolCall, Tools } from '../environments/tools/tool.ts';
import type { ProgramDeps } from './deps.ts';
import { withHeartbeats } from './heartbeat.ts';
import { patientStore } from './patient-store.ts';
import { failMissing, recordedRollout, recordedTurn } from './recorded.ts';
import { calledVerdict, callResult } from '../domain/rollout/calls.ts';
import type { TrajectoryReference } from '../domain/names/ids.ts';
import type { EarlierTurn } from '../domain/context/new-context.ts';
import type { VerdictRecord } from '../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';

const TRIES = 5;

/** Heartbeat details. */
interface CallBeat {
  /** The disk's error, while it keeps the record from being stored. */
  readonly waits: string | null;
}

export function callToolActivity({ openStore, tools, now }: ProgramDeps) {
  return async function callTool({ rollout: id, turn, call }: CallReference): Promise<Called> {
    const store = openStore(id.out, id.run);
    const known = await store.get('call', id, turn, call);
    if (known) return { outcome: known.record.outcome };
    const { settings } = (await recordedRollout(store, id)).record;
    const { record, hash } = await recordedTurn(store, id, turn);
    const written = record.calls?.[call - 1];
    const tool = settings.tools?.list.find(({ name }) => name === written?.name);
    if (!tools || !tool || !written?.arguments) throw missing(written?.name ?? null);
    const key = callKey(id, turn, call);
    const { attempt } = Context.current().info;
    const place = { turn, call, of: hash, name: tool.name, key, attempt };

    return withHeartbeats(async (signal, progress: (beat: CallBeat) => void) => {
      const patient = patientStore(store, (waits) => progress({ waits }));
      let asked = false;
      const startedAt = now();
      const before = async () => {
        if (tool.effect === 'once') await declare(store, { ...place, at: startedAt }, id);
        asked = true;
      };
      const asking = { arguments: JSON.parse(written.arguments!) as JsonObject, key, signal, before };
      const answer = await tried(tools, tool, asking, store.folder, () => asked);
      // It was asked, and what it did is as unknown as after a crash.
      if (tool.effect === 'once' && answer.outcome === 'timed-out') throw noResultInTime(tool);
      const output = clippedToBytes(answer.text.toWellFormed(), MAX_RECORDED_BYTES);
      const result: CallRecord = {
        ...place,
        effect: tool.effect,
        outcome: answer.outcome,
        output,
        bytes: Buffer.byteLength(answer.text),
        ...(answer.trace !== undefined && { trace: answer.trace }),
        tool: tool.fingerprint,
        startedAt,
        finishedAt: Math.max(startedAt, now()),
      };
      return { outcome: (await patient.put('call', id, result)).record.outcome };
    });
  };
}

/** One of all workers that were ever given this call goes on. */
async function declare(store: Store, intent: IntentRecord, id: CallReference['rollout']): Promise<void> {
  try {
    const { created } = await store.put('intent', id, intent);
    if (created) return;
  } catch (error) {
    // A torn intent: the tool may have been called.
    if (!(error instanceof StoreError) || error.reason !== 'record-torn') throw error;
  }
  throw unknownOutcome(intent.name);
}

async function tried(
  tools: Tools,
  tool: ToolRecord,
  call: ToolCall,
  folder: string,
  wasAsked: () => boolean,
): Promise<ToolAnswer> {
  try {
    return await tools.call(tool, call, folder);
  } catch (error) {
    if (tool.effect === 'once' && wasAsked()) throw unknownOutcome(tool.name, error);
    if (call.signal.aborted || !(error instanceof EverturnError) || error instanceof StoreError) throw error;
    if (WAITS.has(error.reason) || (error.retryable && Context.current().info.attempt < TRIES)) throw error;
    if (error instanceof ToolError && !error.retryable) throw error;
    throw new ToolError(explain(error), { reason: 'tool-unavailable' });
  }
}

/** Another worker may do it: the call waits for one. */
const WAITS: ReadonlySet<string> = new Set(['tool-not-served', 'tool-closed']);

function unknownOutcome(name: string, cause?: unknown): ToolError {
  const why = 'it is not known whether it was called: the call was begun, and its result was not stored';
  return outcomeUnknown(name, why, cause);
}

const noResultInTime = ({ name, timeoutSeconds }: ToolRecord): ToolError =>
  outcomeUnknown(name, `it is not known what it did: it was called, and gave no result in ${timeoutSeconds} s`);

function outcomeUnknown(name: string, why: string, cause?: unknown): ToolError {
  return new ToolError(`The tool ${name} must not be called twice, and ${why}.`, {
    reason: 'tool-outcome-unknown',
    fix: 'Look in the tool for the key of the call; `everturn retry` plays the query again, with other keys.',
    cause,
  });
}

function missing(name: string | null): ToolError {
  return new ToolError(
    `There is no call of a tool ${name === null ? 'here' : `named ${JSON.stringify(name)}`} to be run.`,
    {
      reason: 'tool-missing',
      fix: 'Does this worker have the version of the run?',
    },
  );
}

/** The reply to a turn that called tools, when all of its calls have been run. */
export async function replyToCalls(
  store: Store,
  id: TrajectoryReference,
  record: TurnRecord,
  hash: string,
  before: readonly EarlierTurn[],
  own: ToolSettings,
  tools: Tools,
): Promise<VerdictRecord> {
  const { turn, calls = [] } = record;
  const results = await Promise.all(
    calls.map(async (call, i) => {
      const stored = call.error === undefined ? await store.get('call', id, turn, i + 1) : undefined;
      if (call.error === undefined && !stored) failMissing(store, id, `the record of call ${i + 1} of turn ${turn}`);
      return callResult(call, stored, own);
    }),
  );
  const earlier = before.map((one) => one.turn);
  return calledVerdict(record, hash, results, earlier, own, tools);
}
