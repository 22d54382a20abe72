// The answer of a model that takes and gives token ids, generated in chunks if the run asks for it, a server aborts, or its
// own limit is below the budget.
// Every chunk but the last is stored before the next is requested: a kill loses at most the chunk in flight. Ids and
// logprobs accumulate; of two workers' records of one chunk the first counts.

import { tokenBudget } from '../domain/rollout/ending.ts';
import { type ExpertsSlice, expertsFrom, slicesUpTo } from '../domain/rollout/experts.ts';
import { drawsFromSets, type KeptSet, packedKept, saysNoSets, unpackedKept } from '../domain/rollout/kept-sets.ts';
import { ModelError } from '../domain/errors/errors.ts';
import { takesCredit, tokenStarts } from '../domain/rollout/credit.ts';
import { declaredMeaning, mustServeLogprobs, recordedMeaning } from '../domain/rollout/logprob-meaning.ts';
import { spelledMarkers } from '../domain/tools/spelled-markers.ts';
import { concatenated } from '../domain/rollout/turn-facts.ts';
import type { ToolSettings } from '../domain/tools/tool.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import type { ChunkRecord, Finish } from '../domain/rollout/turn.ts';
import { fallingVersions, olderAmong } from '../domain/weights/weight-version.ts';
import type { GenerateRequest, Reply, TokenBackend, TokenFacts } from '../inference/backend.ts';
import type { Store } from '../records/store.ts';
import { isFull, type NoRoom, nullIfFull, commonRequest, type DueTurn } from './answer.ts';
import type { Answered } from './turn-prompt.ts';

const LONG_CONTEXT = 50_000;

export async function answerInTokens(backend: TokenBackend, asked: DueTurn): Promise<Answered | NoRoom> {
  const { rollout, prompt, turn } = asked;
  const { settings } = rollout;
  const { facts, tokenizer } = backend;
  mustServeLogprobs(facts, settings);
  const fresh = await prompt.newContext(backend);
  const context = concatenated(...prompt.before.flatMap(({ record: t }) => [t.contextIds, t.outputIds]), fresh.ids);
  // A context of a million tokens takes some milliseconds to put together, and as many to check and send.
  if (context.length > LONG_CONTEXT) await new Promise(setImmediate);
  const noRoom = { noRoom: true, contextTokens: context.length, modelLength: facts.contextLength } as const;
  const maxNewTokens = tokenBudget(context.length, prompt.maxNewTokens, facts.contextLength);
  if (maxNewTokens === 0) return noRoom;
  const request = {
    ...commonRequest(asked),
    contextIds: context,
    maxNewTokens,
    deterministic: settings.deterministic,
    stopTokenIds: await stopIds(backend, settings.tools),
    ...(prompt.form && { form: prompt.form }),
    ...(facts.givesExperts && { expertsFrom: expertsFrom(context.length - fresh.ids.length) }),
  };
  const whole = await inChunks(backend, asked, request).catch(nullIfFull(turn));
  if (!whole) return noRoom;
  const stopped = await atStop(whole, prompt.stopTexts, tokenizer);
  const { outputIds, logprobs, kept, slices, finish, versions, server, chunks } = stopped ?? whole;
  const outputText = await tokenizer.decode(outputIds, { skipSpecialTokens: false });
  const shown = (ids: readonly number[]) => tokenizer.decode(ids, { skipSpecialTokens: true });
  const answer = await shown(outputIds);
  const text = { contextText: fresh.text, outputIds, outputText, answer, finish };
  return {
    fields: {
      contextIds: fresh.ids,
      logprobs,
      ...keptField(kept),
      ...(slices.length > 0
        ? { experts: slicesUpTo(slices, context.length + outputIds.length - 1) }
        : facts.identity?.hasExperts && { expertsMissing: true }),
      ...text,
      ...(takesCredit(rollout) && { tokenStarts: await tokenStarts(text, shown) }),
      versions,
      versionStart: versions[0]?.version ?? 0,
      versionEnd: versions.at(-1)?.version ?? 0,
      contextLength: context.length,
      // The context may end before the model's length is reached.
      maxNewTokens: finish === 'stop' ? maxNewTokens : outputIds.length,
      server,
      logprobsOf: settings.logprobs,
      logprobsFound: recordedMeaning(facts, settings),
      ...(stopped && { reply: { text: stopped.text, stopped: stopped.stop } }),
    },
    spelled: await spelledIn(tokenizer, outputIds, outputText, settings.tools),
    chunks,
  };
}

/** The answer as if the model had ended it with the token that completes one of the prompt's stop texts. */
async function atStop(answer: Answer, stops: readonly string[], { decode }: TokenBackend['tokenizer']) {
  if (stops.length === 0) return undefined;
  const text = (count: number) => decode(answer.outputIds.slice(0, count), { skipSpecialTokens: true });
  const whole = await text(answer.outputIds.length);
  const stop = stops.filter((one) => whole.includes(one)).toSorted((a, b) => whole.indexOf(a) - whole.indexOf(b))[0];
  if (stop === undefined) return undefined;
  let [least, most] = [1, answer.outputIds.length];
  while (least < most) {
    const middle = Math.floor((least + most) / 2);
    if ((await text(middle)).includes(stop)) most = middle;
    else least = middle + 1;
  }
  const versions = answer.versions.flatMap((span) =>
    span.start < most ? [{ ...span, end: Math.min(span.end, most) }] : [],
  );
  return {
    ...answer,
    outputIds: answer.outputIds.slice(0, most),
    logprobs: answer.logprobs.slice(0, most),
    ...(answer.kept && { kept: answer.kept.slice(0, most) }),
    versions,
    finish: 'stop' as const,
    stop,
    text: whole.slice(0, whole.indexOf(stop)),
  };
}

async function spelledIn(
  tokenizer: TokenBackend['tokenizer'],
  outputIds: readonly number[],
  outputText: string,
  tools: ToolSettings | undefined,
): Promise<readonly number[]> {
  const decode = (ids: readonly number[]) => tokenizer.decode(ids, { skipSpecialTokens: false });
  return (await spelledMarkers({ outputIds, outputText }, tools?.markers ?? [], decode)) ?? [];
}

/** The ids that end a reply; with tools, also those of their format. */
async function stopIds(
  { facts, tokenizer }: TokenBackend,
  tools: ToolSettings | undefined,
): Promise<readonly number[]> {
  if (!tools?.stops) return facts.stopTokenIds;
  const encoded = await Promise.all(tools.stops.map((stop) => tokenizer.encodeRendered(stop)));
  return [...new Set([...facts.stopTokenIds, ...encoded.flatMap((ids) => (ids.length === 1 ? ids : []))])];
}

type Part = Omit<Reply, 'experts'> & Pick<Answer, 'slices'>;

/** The replies to one turn's requests, joined. */
interface Answer extends Omit<Reply, 'experts'> {
  /** Of all its parts; none where one of them has none. */
  readonly slices: readonly ExpertsSlice[];
  /** Chunks that are stored. */
  readonly chunks: number;
}

async function inChunks(backend: TokenBackend, asked: DueTurn, request: GenerateRequest): Promise<Answer> {
  const { store, id, turn, options } = asked;
  // A form holds from the first token on, whatever stands before it: no part of an answer is asked for by itself.
  const newTokensPerChunk = request.form ? null : asked.rollout.settings.newTokensPerChunk;
  const none = { outputIds: [], logprobs: [], slices: [], versions: [] };
  let answer: Answer = { ...none, finish: 'length', server: null, chunks: 0 };
  for (let chunk = 1; ; chunk++) {
    const stored = chunk === 1 ? asked.firstChunk : (await store.get('chunk', id, turn, chunk))?.record;
    if (stored) {
      answer = joined(answer, asReply(stored), 1);
      continue;
    }
    const room = request.maxNewTokens - answer.outputIds.length;
    if (room <= 0) return answer;
    const startedAt = asked.now();
    const part = await backend
      .generate(rest(request, answer, Math.min(room, newTokensPerChunk ?? room)), {
        signal: options.signal,
        onProgress: (tokens) => options.onProgress?.(answer.outputIds.length + tokens),
      })
      .then((reply) => asRecorded(reply, backend.facts, asked.rollout.settings))
      .then((reply) => withSlices(store, reply))
      .catch((error: unknown) => {
        if (answer.outputIds.length > 0 && isFull(error)) return null;
        throw error;
      });
    if (part === null) return { ...answer, finish: 'length' };
    const whole = joined(answer, part, 0);
    // The labels alone may take weights that another run left on the server for newer ones.
    const back =
      fallingVersions(whole.versions) && fallingVersions(whole.versions, olderAmong(await asked.declaredWeights()));
    if (back) throw olderWeights(back);
    if (part.finish === 'stop' || whole.outputIds.length >= request.maxNewTokens) return whole;
    if (request.form && part.finish === 'length') return whole;
    if (part.outputIds.length === 0 || request.form) throw nothingCame(part.finish);
    const { outputIds, logprobs, kept, slices, finish, versions, server } = part;
    const record: ChunkRecord = {
      turn,
      chunk,
      outputIds,
      logprobs,
      ...keptField(kept),
      ...(slices.length > 0 && { experts: slices }),
      finish,
      versions,
      server,
      attempt: asked.attempt,
      startedAt,
      finishedAt: Math.max(startedAt, asked.now()),
    };
    answer = joined(answer, asReply((await store.put('chunk', id, record)).record), 1);
  }
}

/** With the logprobs that the run wants, where the server gives them of two distributions. */
function asRecorded(reply: Reply, facts: TokenFacts, settings: RolloutSettings): Reply {
  if (!facts.givesKept || !drawsFromSets(settings, facts.vocabSize)) return reply;
  const { kept, keptLogprobs } = reply;
  const areOverSets = recordedMeaning(facts, settings) !== declaredMeaning(facts);
  if (!kept || (areOverSets && !keptLogprobs)) throw saysNoSets(reply.server);
  return areOverSets ? { ...reply, logprobs: keptLogprobs! } : reply;
}

/** The request for what is missing of an answer. */
function rest(request: GenerateRequest, answer: Answer, maxNewTokens: number): GenerateRequest {
  const version = answer.versions.at(-1)?.version;
  const prefer = answer.server !== null && version !== undefined ? { server: answer.server, version } : null;
  const contextIds = concatenated(request.contextIds, answer.outputIds);
  // Those of the parts before end there.
  const isLater = request.expertsFrom !== undefined && answer.outputIds.length > 0;
  return {
    ...request,
    contextIds,
    maxNewTokens,
    prefer,
    ...(isLater && { expertsFrom: expertsFrom(contextIds.length) }),
  };
}

/** Its experts are stored before what refers to them. */
async function withSlices(store: Pick<Store, 'putExperts'>, reply: Reply): Promise<Part> {
  const { experts, ...rest } = reply;
  if (!experts || experts.rows === 0) return { ...rest, slices: [] };
  const { data, ...place } = experts;
  return { ...rest, slices: [{ ...(await store.putExperts(data)), ...place }] };
}

function joined(before: Answer, part: Part, stored: 0 | 1): Answer {
  const offset = before.outputIds.length;
  const isWhole = offset === 0 || before.slices.length > 0;
  const versions = [...before.versions];
  for (const { version, start, end, ...more } of part.versions) {
    // An empty span counts only in an answer without tokens: it names the weights that gave it.
    if (start === end && (offset > 0 || part.outputIds.length > 0)) continue;
    const last = versions.at(-1);
    // After a rewind a number comes again, with other weights.
    if (last?.version === version && last.versionLabel === more.versionLabel)
      versions[versions.length - 1] = { ...last, end: offset + end };
    else versions.push({ ...more, version, start: offset + start, end: offset + end });
  }
  return {
    outputIds: concatenated(before.outputIds, part.outputIds),
    logprobs: concatenated(before.logprobs, part.logprobs),
    slices: isWhole && part.slices.length > 0 ? [...before.slices, ...part.slices] : [],
    ...((before.kept ?? part.kept) && { kept: [...keptOf(before), ...keptOf(part)] }),
    finish: part.finish,
    versions,
    server: part.server,
    chunks: before.chunks + stored,
  };
}

/** Of a server that does not say, none is known. */
const keptOf = ({ kept, outputIds }: Reply): readonly KeptSet[] => kept ?? outputIds.map(() => null);

const keptField = (kept: Reply['kept'] = []) => (kept.length > 0 ? { kept: packedKept(kept) } : {});

const asReply = ({ kept, experts = [], ...record }: ChunkRecord): Part => ({
  ...record,
  slices: experts,
  ...(kept !== undefined && { kept: unpackedKept(kept)! }),
});

/** During an update, a server with the new weights may go down while the others still have the old ones. */
function olderWeights(versions: string): ModelError {
  return new ModelError(`The rest of an answer came from older weights than its beginning: versions ${versions}.`, {
    reason: 'old-weights',
    fix: 'It is asked again until a server has the newer ones.',
    retryable: true,
  });
}

/** Asking again at once would be a busy loop: Temporal asks again, with growing pauses. */
function nothingCame(finish: Finish): ModelError {
  return new ModelError(
    `The model ended an answer with "${finish}" before its first token, or before its form was whole.`,
    {
      reason: 'nothing-generated',
      fix: 'Was it paused, or is it being updated? It is asked again.',
      retryable: true,
    },
  );
}
