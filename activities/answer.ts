// The answer to one turn, as both kinds of model give it. `noRoom`: the conversation leaves no room for an answer.

import { ModelError } from '../domain/errors/errors.ts';
import { templateVariables } from '../domain/context/new-context.ts';
import { samplingOf } from '../domain/rollout/sampling.ts';
import type { TrajectoryReference } from '../domain/names/ids.ts';
import type { RolloutRecord } from '../domain/rollout/trajectory.ts';
import type { ChunkRecord } from '../domain/rollout/turn.ts';
import type { GenerateOptions, TextBackend } from '../inference/backend.ts';
import type { DeclaredWeights } from '../domain/weights/weights.ts';
import type { Store } from '../records/store.ts';
import type { Answered, TurnPrompt } from './turn-prompt.ts';

/** One turn to be answered. */
export interface DueTurn {
  readonly store: Store;
  readonly id: TrajectoryReference;
  readonly rollout: RolloutRecord;
  readonly turn: number;
  readonly prompt: TurnPrompt;
  readonly seed: number;
  /** Servers whose answers to this turn could not be read. */
  readonly avoid: readonly string[];
  /** The answer's first chunk, if it is stored already. */
  readonly firstChunk: ChunkRecord | undefined;
  /** The updates of the run's weights, in their order. */
  readonly declaredWeights: () => Promise<readonly DeclaredWeights[]>;
  /** Which try of the activity this is, 1-based. */
  readonly attempt: number;
  readonly now: () => number;
  readonly options: GenerateOptions;
}

export interface NoRoom {
  readonly noRoom: true;
  readonly contextTokens: number;
  /** Tokens that the model holds, as far as it says. */
  readonly modelLength: number | null;
}

/** A server's real context may be shorter than it reported: null, if this is such a refusal of a later turn. */
export function nullIfFull(turn: number): (error: unknown) => null {
  return (error) => {
    if (turn > 1 && isFull(error)) return null;
    throw error;
  };
}

export const isFull = (error: unknown): boolean => error instanceof ModelError && error.reason === 'context-length';

/** The part that all requests have. */
export function commonRequest({ id, turn, rollout, seed, avoid }: DueTurn) {
  return {
    requestId: `${id.run}/${id.query}/${id.sample}/${turn}`,
    sampling: samplingOf(rollout.settings),
    seed,
    ...(avoid.length > 0 ? { avoid } : {}),
  };
}

/**
 * The answer of a model that takes messages: one request with the whole conversation. It has no ids and no logprobs of ids, so the
 * turn is marked as not trainable; its tokens are those that the server counts.
 */
export async function answerInText(backend: TextBackend, asked: DueTurn): Promise<Answered | NoRoom> {
  const { prompt, turn, options } = asked;
  const conversation = await prompt.conversation();
  const variables = templateVariables(asked.rollout);
  const request = {
    ...commonRequest(asked),
    maxNewTokens: prompt.maxNewTokens,
    ...conversation.request,
    ...(variables && { variables }),
  };
  const reply = await backend.generate(request, options).catch(nullIfFull(turn));
  if (!reply) return { noRoom: true, contextTokens: 0, modelLength: null };
  const {
    text,
    finish,
    maxNewTokens = request.maxNewTokens,
    server,
    textLogprobs,
    usage,
    reasoning,
    toolCalls,
  } = reply;
  return {
    fields: {
      contextIds: [],
      contextText: conversation.newText,
      outputIds: [],
      logprobs: [],
      outputText: text,
      answer: text,
      finish,
      versions: [],
      versionStart: 0,
      versionEnd: 0,
      contextLength: 0,
      maxNewTokens,
      server,
      trainable: false,
      ...(textLogprobs.length > 0 && { textLogprobs }),
      ...(usage && { usage }),
      ...(reasoning && { reasoning }),
      ...(toolCalls && { toolCalls }),
    },
    chunks: 0,
  };
}
