// Asks the model for one turn's answer, once: the stored record is the answer. A retry, or a second worker that was
// thought dead, gets that record back and generates nothing. The calls of agents are answered within their own activity.

import { Context } from '@temporalio/activity';
import { callsToRun } from '../domain/rollout/calls.ts';
import { ModelError, StoreError } from '../domain/errors/errors.ts';
import type { TrajectoryReference } from '../domain/names/ids.ts';
import type { Store, Stored } from '../records/store.ts';
import { type Generated, recordedFacts, type TurnReference } from '../domain/rollout/rollout-facts.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';
import type { NoRoom } from './answer.ts';
import { answeringTurns } from './answer-turn.ts';
import type { ActivityDeps, ProgramDeps } from './deps.ts';
import { failIfRepeated, type Flaws, readFlaws, withFlaw } from './flaws.ts';
import { beat as beatNow, sleep, withHeartbeats } from './heartbeat.ts';
import { readLoopPrompt, type TurnPrompt } from './turn-prompt.ts';
import { patientStore } from './patient-store.ts';
import { recordedRollout } from './recorded.ts';

/** Heartbeat details. */
interface GenerateBeat {
  readonly tokens: number;
  /** The disk's error, while it keeps the answer from being stored. */
  readonly waits?: string | null;
  /** Answers to this turn that could not be read, over all attempts. */
  readonly flaws: Flaws;
}

export function generateActivity(deps: ProgramDeps & Partial<Pick<ActivityDeps, 'weights'>>) {
  const { openStore, backend: backendOf, tools, isStopping } = deps;
  const answerTurn = answeringTurns(deps);
  return async function generate({ rollout: id, turn }: TurnReference): Promise<Generated> {
    const store = openStore(id.out, id.run);
    const stopping = () => isStopping(id.out, id.run);
    // All in one round trip to the disk.
    const [earlier, firstChunk, end, isStopped] = await Promise.all([
      store.get('turn', id, turn),
      store.get('chunk', id, turn, 1),
      store.get('end', id),
      stopping(),
    ]);
    if (earlier) {
      const calls = earlier.record.calls && (await recordedRollout(store, id)).record.settings;
      return factsOf(id.run, earlier, calls);
    }
    if (end) throw await hasEnded(store, id);

    return withHeartbeats(async (signal, progress: (beat: GenerateBeat) => void) => {
      const { report, countFlaw, avoid } = openBeats(progress);
      if (isStopped) await whileStopping(stopping, signal);
      const patient = patientStore(store, (waits) => report({ waits }));
      const rollout = await recordedRollout(store, id);
      const { settings } = rollout.record;
      const prompt = await readLoopPrompt({ store, id, turn, rollout, tools });
      const { cancelled, info } = Context.current();
      const backend = await Promise.race([backendOf(settings, store.folder), cancelled]).catch(countFlaw);
      const answer = await answerTurn(backend, {
        ...{ store: patient, id, rollout: rollout.record, turn, prompt, avoid, attempt: info.attempt },
        firstChunk: firstChunk?.record,
        options: { signal, onProgress: (tokens) => report({ tokens }) },
      }).catch(countFlaw);
      return 'noRoom' in answer ? noRoom(prompt, answer) : factsOf(id.run, answer, settings);
    });
  };
}

/** The heartbeats of one attempt. They carry the count of unreadable answers to the next one. */
function openBeats(progress: (beat: GenerateBeat) => void) {
  const flaws = readFlaws(Context.current().info.heartbeatDetails);
  let beat: GenerateBeat = { tokens: 0, flaws };
  const report = (more: Partial<GenerateBeat>) => progress((beat = { ...beat, ...more }));
  report({}); // an attempt that dies must not take the count with it
  return {
    report,
    /** Servers whose answers to this turn could not be read. */
    avoid: flaws.servers,
    /** Throws the error; that of an unreadable answer is counted. */
    countFlaw(error: unknown): never {
      const more = withFlaw(flaws, error);
      if (!more) throw error;
      beatNow({ ...beat, flaws: more } satisfies GenerateBeat);
      throw failIfRepeated(error as ModelError, more);
    },
  };
}

const POLL_MS = 1000;
const COUNTED_MS = 60_000;
/**
 * A run that is being stopped cancels this rollout as soon as a busy server lets it, and its answer would come to nothing.
 * Limited, because a block that is started again meanwhile waits for what had begun.
 */
const CANCELLED_MS = 120_000;

export const whileStopping = (stopping: () => Promise<boolean>, signal: AbortSignal): Promise<void> =>
  waitWhile(stopping, CANCELLED_MS, signal);

/** A cancellation ends it by an error. */
async function waitWhile(condition: () => Promise<boolean>, mostMs: number, signal: AbortSignal): Promise<void> {
  const began = performance.now();
  while (performance.now() - began < mostMs && (await condition())) await sleep(POLL_MS, signal);
}

/**
 * Its run was cancelled while this waited (collection.ts), or somebody reset its workflow, which takes the end now. Not
 * before the run has its result: thousands of such workflows would delay those that it still waits for.
 */
async function hasEnded(store: Store, { query, sample }: TrajectoryReference): Promise<StoreError> {
  await withHeartbeats((signal) => waitWhile(async () => !(await store.get('result')), COUNTED_MS, signal));
  const message = `Query "${query}", sample ${sample} has ended: its record takes no further turn.`;
  return new StoreError(message, { reason: 'rollout-ended', retryable: false });
}

function noRoom({ mayFill }: TurnPrompt, { contextTokens, modelLength }: NoRoom): Generated {
  if (mayFill) return { noRoom: true, contextTokens };
  throw new ModelError(`The prompt has ${contextTokens} tokens, and the model's context holds ${modelLength}.`, {
    reason: 'prompt-too-long',
    fix: 'Shorten the prompt, or use a model with a longer context.',
  });
}

function factsOf(run: string, { record, hash }: Stored<TurnRecord>, settings?: RolloutSettings): Generated {
  const calls = record.calls && settings?.tools ? { calls: callsToRun(run, record.calls, settings.tools) } : {};
  return { noRoom: false, ...recordedFacts(record), hash, ...calls };
}
