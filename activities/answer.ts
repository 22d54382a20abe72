// One answer, generated in chunks where the run asks for it or a server aborts. Every part that is not
// the last is kept before the next is asked for: a kill loses at most the chunk in flight. Ids and
// logprobs accumulate; a part that somebody else kept first is the one that counts.

import { ModelError } from '../domain/errors.ts';
import type { TrajectoryReference } from '../domain/ids.ts';
import { concatenated } from '../domain/trajectory.ts';
import type { ChunkRecord, Finish, VersionSpan } from '../domain/turn.ts';
import type { Backend, GenerateOptions, GenerateRequest, TextLogprob } from '../inference/backend.ts';
import type { Store } from '../storage/store.ts';

export interface Answer {
  readonly outputIds: readonly number[];
  readonly logprobs: readonly number[];
  readonly finish: Finish;
  readonly versions: readonly VersionSpan[];
  readonly server: string | null;
  /** The answer as text, and the server's own tokens of it, where it gives no ids. */
  readonly text?: string;
  readonly textLogprobs?: readonly TextLogprob[];
  /** Parts that were kept on the way. */
  readonly chunks: number;
}

export interface AnswerInput {
  readonly store: Store;
  readonly rollout: TrajectoryReference;
  readonly turn: number;
  readonly backend: Backend;
  /** The answer's first part, if it is kept already. */
  readonly firstChunk: ChunkRecord | undefined;
  /** For the whole answer. */
  readonly request: GenerateRequest;
  readonly newTokensPerChunk: number | null;
  /** Which try of the activity this is, 1-based. */
  readonly attempt: number;
  readonly now: () => number;
}

export async function generateAnswer(input: AnswerInput, options: GenerateOptions): Promise<Answer> {
  const { store, rollout, turn, backend, request } = input;
  let answer: Answer = { outputIds: [], logprobs: [], finish: 'length', versions: [], server: null, chunks: 0 };
  for (let chunk = 1; ; chunk++) {
    const kept = chunk === 1 ? input.firstChunk : (await store.getChunk(rollout, turn, chunk))?.record;
    if (kept) {
      answer = joined(answer, kept, 1);
      continue;
    }
    const room = request.maxNewTokens - answer.outputIds.length;
    if (room <= 0) return answer;
    const startedAt = input.now();
    const part = await backend.generate(rest(request, answer, Math.min(room, input.newTokensPerChunk ?? room)), {
      signal: options.signal,
      onProgress: (tokens) => options.onProgress?.(answer.outputIds.length + tokens),
    });
    if (part.text !== undefined)
      return { ...joined(answer, part, 0), text: part.text, textLogprobs: part.textLogprobs ?? [] };
    const whole = joined(answer, part, 0);
    if (part.finish === 'stop' || whole.outputIds.length >= request.maxNewTokens) return whole;
    if (part.outputIds.length === 0) throw nothingCame(part.finish);
    const { outputIds, logprobs, finish, versions, server } = part;
    const record: ChunkRecord = {
      turn,
      chunk,
      outputIds,
      logprobs,
      finish,
      versions,
      server,
      attempt: input.attempt,
      startedAt,
      finishedAt: Math.max(startedAt, input.now()),
    };
    answer = joined(answer, (await store.putChunk(rollout, record)).record, 1);
  }
}

/** The request for what is missing of an answer. */
function rest(request: GenerateRequest, answer: Answer, maxNewTokens: number): GenerateRequest {
  const version = answer.versions.at(-1)?.version;
  const prefer = answer.server !== null && version !== undefined ? { server: answer.server, version } : null;
  return { ...request, contextIds: concatenated(request.contextIds, answer.outputIds), maxNewTokens, prefer };
}

function joined(before: Answer, part: Omit<Answer, 'chunks'>, kept: 0 | 1): Answer {
  const offset = before.outputIds.length;
  const versions = [...before.versions];
  for (const { version, start, end, ...more } of part.versions) {
    if (start === end) continue;
    const last = versions.at(-1);
    if (last?.version === version) versions[versions.length - 1] = { ...last, end: offset + end };
    else versions.push({ ...more, version, start: offset + start, end: offset + end });
  }
  return {
    outputIds: concatenated(before.outputIds, part.outputIds),
    logprobs: concatenated(before.logprobs, part.logprobs),
    finish: part.finish,
    versions,
    server: part.server,
    chunks: before.chunks + kept,
  };
}

/** Asking again at once would be a busy loop: Temporal asks again, with growing pauses. */
function nothingCame(finish: Finish): ModelError {
  return new ModelError(`The model ended an answer with "${finish}" before its first token.`, {
    reason: 'nothing-generated',
    fix: 'Was it paused, or is it being updated? It is asked again.',
    retryable: true,
  });
}
