// Asks the model for one turn's answer, once: the stored record is the answer. A retry, or a second worker that was
// thought dead, gets that record back and generates nothing. Kinds of prompt, and kinds of model, part in one line each.

import { Context } from '@temporalio/activity';
import { callsToRun } from '../domain/rollout/calls.ts';
import { ModelError, StoreError } from '../domain/errors/errors.ts';
import { type TrajectoryReference, turnSeed } from '../domain/names/ids.ts';
import type { Backend, TextBackend } from '../inference/backend.ts';
import type { Store, Stored } from '../records/store.ts';
import { type Generated, recordedFacts, type TurnReference } from '../domain/rollout/rollout-facts.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';
import { answerInText, type DueTurn, type NoRoom } from './answer.ts';
import { answerInTokens } from './answer-in-tokens.ts';
import type { ActivityDeps, ProgramDeps } from './deps.ts';
import { failIfRepeated, type Flaws, readFlaws, withFlaw } from './flaws.ts';
import { beat as beatNow, withHeartbeats } from './heartbeat.ts';
import { readLoopPrompt, type ReadPrompt, type TurnPrompt } from './turn-prompt.ts';
import { patientStore } from './patient-store.ts';
import { recordedRollout } from './recorded.ts';
import type { TurnNotices } from './turn-notices.ts';

/** Heartbeat details. */
interface GenerateBeat {
  readonly tokens: number;
  /** The disk's error, while it keeps the answer from being stored. */
  readonly waits?: string | null;
  /** Answers to this turn that could not be read, over all attempts. */
  readonly flaws: Flaws;
}

/** A program that answers for its own functions alone updates no weights. */
type GenerateDeps = ProgramDeps & Partial<Pick<ActivityDeps, 'weights'>>;

/** `readAgentPrompt`: the prompt of a turn in a rollout that an agent's program plays. */
export function generateActivity(
  { openStore, backend: backendOf, tools, isStopping, weights, now }: GenerateDeps,
  readAgentPrompt: ReadPrompt,
  turnNotices: TurnNotices,
) {
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
      if (isStopped) await waitWhile(stopping, CANCELLED_MS);
      const patient = patientStore(store, (waits) => report({ waits }));
      const rollout = await recordedRollout(store, id);
      const { settings } = rollout.record;
      const source = { store, id, turn, rollout, tools };
      const prompt = await (settings.program ? readAgentPrompt(source) : readLoopPrompt(source));
      const { cancelled, info } = Context.current();
      const backend = await Promise.race([backendOf(settings, store.folder), cancelled]).catch(countFlaw);
      const startedAt = now();
      const seed = turnSeed(settings.seed, id.query, id.sample, prompt.seedName);
      const { attempt } = info;
      const due: DueTurn = {
        ...{ store: patient, id, rollout: rollout.record, turn, prompt, seed, avoid, attempt, now },
        firstChunk: firstChunk?.record,
        declaredWeights: async () => (await weights?.ledger(store.folder).read())?.entries ?? [],
        options: { signal, onProgress: (tokens) => report({ tokens }) },
      };
      const answering = givesText(backend) ? answerInText(backend, due) : answerInTokens(backend, due);
      const answer = await answering.catch(countFlaw);
      if ('noRoom' in answer) return noRoom(prompt, answer);
      const stored = await patient.put('turn', id, {
        turn,
        ...answer.fields,
        seed,
        previous: prompt.previous,
        attempt,
        startedAt,
        // The clock may have been set back meanwhile.
        finishedAt: Math.max(startedAt, now()),
        model: backend.facts.name,
        ...prompt.fieldsOf(answer),
      });
      turnNotices.tell(id, turn);
      if (answer.chunks > 0) await store.dropChunks(id, turn);
      return factsOf(id.run, stored, settings);
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

/** A cancellation ends it by an error. */
async function waitWhile(condition: () => Promise<boolean>, mostMs: number): Promise<void> {
  const began = performance.now();
  while (performance.now() - began < mostMs && (await condition())) await Context.current().sleep(POLL_MS);
}

/**
 * Its run was cancelled while this waited (collection.ts), or somebody reset its workflow, which takes the end now. Not
 * before the run has its result: thousands of such workflows would delay those that it still waits for.
 */
async function hasEnded(store: Store, { query, sample }: TrajectoryReference): Promise<StoreError> {
  await withHeartbeats(() => waitWhile(async () => !(await store.get('result')), COUNTED_MS));
  const message = `Query "${query}", sample ${sample} has ended: its record takes no further turn.`;
  return new StoreError(message, { reason: 'rollout-ended', retryable: false });
}

function givesText(backend: Backend): backend is TextBackend {
  return backend.facts.kind === 'text';
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
