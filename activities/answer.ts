// One answer, generated in chunks if the run asks for it or a server aborts. Every chunk but the last is stored
// before the next is requested: a kill loses at most the chunk in flight. Ids and logprobs accumulate; of two
// workers' records of one chunk the first counts.

import { ModelError } from '../domain/errors.ts';
import type { TrajectoryReference } from '../domain/ids.ts';
import { concatenated } from '../domain/trajectory.ts';
import type { ChunkRecord, Finish } from '../domain/turn.ts';
import type { Backend, GenerateOptions, GenerateRequest, Reply } from '../inference/backend.ts';
import type { Store } from '../storage/store.ts';

/** The replies to one turn's requests, joined. */
export interface Answer extends Reply {
  /** Chunks that are stored. */
  readonly chunks: number;
}

export interface AnswerInput {
  readonly store: Store;
  readonly rollout: TrajectoryReference;
  readonly turn: number;
  readonly backend: Backend;
  /** The answer's first chunk, if it is stored already. */
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
    const stored = chunk === 1 ? input.firstChunk : (await store.getChunk(rollout, turn, chunk))?.record;
    if (stored) {
      answer = joined(answer, stored, 1);
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

function joined(before: Answer, part: Reply, stored: 0 | 1): Answer {
  const offset = before.outputIds.length;
  const versions = [...before.versions];
  for (const { version, start, end, ...more } of part.versions) {
    if (start === end) continue;
    const last = versions.at(-1);
    // After a rewind a number comes again, with other weights.
    if (last?.version === version && last.versionLabel === more.versionLabel)
      versions[versions.length - 1] = { ...last, end: offset + end };
    else versions.push({ ...more, version, start: offset + start, end: offset + end });
  }
  return {
    outputIds: concatenated(before.outputIds, part.outputIds),
    logprobs: concatenated(before.logprobs, part.logprobs),
    finish: part.finish,
    versions,
    server: part.server,
    chunks: before.chunks + stored,
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
