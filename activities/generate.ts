// Asks the model for one turn's answer, once: the stored record is the answer. A retry, or a second worker that was
// thought dead, gets that record back and generates nothing.

import { Context } from '@temporalio/activity';
import { ModelError } from '../domain/errors.ts';
import { tokenBudget } from '../domain/ending.ts';
import { type TrajectoryReference, turnSeed } from '../domain/ids.ts';
import { meaningOf, mustServeLogprobs } from '../domain/logprob-meaning.ts';
import { type EarlierTurn, conversationOf, newContext } from '../domain/new-context.ts';
import type { Store, Stored } from '../storage/store.ts';
import { concatenated } from '../domain/trajectory.ts';
import type { Generated, TurnReference } from '../domain/rollout-facts.ts';
import { outputTokens, type TurnRecord } from '../domain/turn.ts';
import { generateAnswer } from './answer.ts';
import type { ActivityDeps } from './deps.ts';
import { afterFlaw, type Flaws, flawsIn, withFlaw } from './flaws.ts';
import { beat as beatNow, heartbeating } from './heartbeat.ts';
import { patientStore } from './patient-store.ts';
import { recordedRollout, recordedTurns, recordedVerdict } from './recorded.ts';

const LONG_CONTEXT = 50_000;

/** Heartbeat details. */
interface GenerateBeat {
  readonly tokens: number;
  /** The disk's error, while it keeps the answer from being stored. */
  readonly waits?: string | null;
  /** Answers to this turn that could not be read, over all attempts. */
  readonly flaws?: Flaws;
}

export function generateActivity({ openStore, backend: backendOf, now }: ActivityDeps) {
  return async function generate({ rollout: id, turn }: TurnReference): Promise<Generated> {
    const store = openStore(id.out, id.run);
    // Both in one round trip to the disk.
    const [there, firstChunk] = await Promise.all([store.getTurn(id, turn), store.getChunk(id, turn, 1)]);
    if (there) return factsOf(there);

    return heartbeating(async (signal, progress: (beat: GenerateBeat) => void) => {
      const flaws = flawsIn(Context.current().info.heartbeatDetails);
      let beat: GenerateBeat = { tokens: 0, flaws };
      const report = (more: Partial<GenerateBeat>) => progress((beat = { ...beat, ...more }));
      const counted = (error: unknown): never => {
        const more = withFlaw(flaws, error);
        if (!more) throw error;
        beatNow({ ...beat, flaws: more } satisfies GenerateBeat);
        throw afterFlaw(error as ModelError, more);
      };
      report({}); // an attempt that dies must not take the count with it
      const patient = patientStore(store, (waits) => report({ waits }));
      const rollout = await recordedRollout(store, id);
      const { settings } = rollout.record;
      const before = await recordedTurns(store, id, turn - 1);
      const backend = await backendOf(settings, store.folder).catch(counted);
      const { facts } = backend;
      mustServeLogprobs(facts, settings);
      const judged = (place: number) => answeredTurn(store, id, before[place]!.record);
      const answered = turn > 1 ? await judged(turn - 2) : null;
      const startedAt = now();
      const fresh = await newContext(rollout.record, answered, backend);
      const context = concatenated(...before.flatMap(({ record: t }) => [t.contextIds, t.outputIds]), fresh.ids);
      // A context of a million tokens takes some milliseconds to put together, and as many to check and send.
      if (context.length > LONG_CONTEXT) await new Promise(setImmediate);
      const maxNewTokens = tokenBudget(context.length, settings.maxNewTokens, facts.contextLength);
      if (maxNewTokens === 0) return noRoom(turn, context.length, facts.contextLength);

      const seed = turnSeed(settings.seed, id.query, id.sample, turn);
      const { attempt } = Context.current().info;
      const { temperature, topP, topK, newTokensPerChunk } = settings;
      const request = {
        requestId: `${id.run}/${id.query}/${id.sample}/${turn}`,
        contextIds: context,
        maxNewTokens,
        sampling: { temperature, topP, topK },
        seed,
        deterministic: settings.deterministic,
        stopTokenIds: facts.stopTokenIds,
        ...(flaws.servers.length > 0 ? { avoid: flaws.servers } : {}),
        ...(facts.takes === 'messages'
          ? {
              messages: conversationOf(rollout.record.query.prompt, await Promise.all(before.map((_, i) => judged(i)))),
            }
          : {}),
      };
      const answer = await generateAnswer(
        {
          store: patient,
          rollout: id,
          turn,
          backend,
          firstChunk: firstChunk?.record,
          request,
          newTokensPerChunk,
          attempt,
          now,
        },
        { signal, onProgress: (tokens) => report({ tokens }) },
      ).catch((error: unknown) => {
        // A server's real context may be shorter than it reported: then this turn has no room after all.
        if (turn > 1 && error instanceof ModelError && error.reason === 'context-length') return null;
        return counted(error);
      });
      if (!answer) return noRoom(turn, context.length, facts.contextLength);
      const { outputIds, logprobs, finish, versions, server, text, textLogprobs } = answer;
      const stored = await patient.putTurn(id, {
        turn,
        contextIds: fresh.ids,
        contextText: fresh.text,
        outputIds,
        logprobs,
        outputText: text ?? (await backend.tokenizer.decode(outputIds, { skipSpecialTokens: false })),
        answer: text ?? (await backend.tokenizer.decode(outputIds, { skipSpecialTokens: true })),
        finish,
        versions,
        versionStart: versions[0]?.version ?? 0,
        versionEnd: versions.at(-1)?.version ?? 0,
        contextLength: context.length,
        maxNewTokens,
        seed,
        previous: before.at(-1)?.hash ?? rollout.hash,
        attempt,
        startedAt,
        // The clock may have been set back meanwhile.
        finishedAt: Math.max(startedAt, now()),
        model: facts.name,
        server,
        logprobsOf: settings.logprobs,
        logprobsFound: meaningOf(facts),
        ...(facts.trainable ? {} : { trainable: false }),
        ...(textLogprobs?.length ? { textLogprobs } : {}),
      });
      if (answer.chunks > 0) await store.dropChunks(id, turn);
      return factsOf(stored);
    });
  };
}

async function answeredTurn(store: Store, id: TrajectoryReference, turn: TurnRecord): Promise<EarlierTurn> {
  return { turn, verdict: (await recordedVerdict(store, id, turn.turn)).record };
}

function noRoom(turn: number, contextTokens: number, modelLength: number): Generated {
  if (turn > 1) return { noRoom: true, contextTokens };
  throw new ModelError(`The prompt has ${contextTokens} tokens, and the model's context holds ${modelLength}.`, {
    reason: 'prompt-too-long',
    fix: 'Shorten the prompt, or use a model with a longer context.',
  });
}

function factsOf({ record, hash }: Stored<TurnRecord>): Generated {
  const { turn, contextLength, finish, versionStart, versionEnd } = record;
  const facts = { turn, contextTokens: contextLength, finish, versionStart, versionEnd, hash };
  return { noRoom: false, outputTokens: outputTokens(record), ...facts };
}
