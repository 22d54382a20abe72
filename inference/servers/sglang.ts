// The SGLang backend, by its native /generate: token ids in; token ids, logprobs and weight versions out. Every sampling
// parameter is sent, because servers start with defaults of their own. Ids are checked first: one outside the vocabulary
// kills the whole server. Not covered: multimodal inputs, beam search.

import { DEFAULT_SAMPLING } from '../../domain/rollout/sampling.ts';
import { ModelError } from '../../domain/errors/errors.ts';
import type { NamedAdapter } from '../../domain/weights/adapter.ts';
import type { ModelIdentity } from '../../domain/weights/model-identity.ts';
import type { Sampling } from '../../domain/rollout/sampling.ts';
import type { BackendOptions, GenerateRequest, Reply, TokenBackend, TokenFacts } from '../backend.ts';
import type { RequestOptions, Http } from '../http/http.ts';
import { badReply, statusError } from '../http/http-errors.ts';
import { serverCanary, serverIdentity } from '../fleet/identity.ts';
import { logprobMeaning, PEEK_TOKENS } from '../fleet/logprob-canary.ts';
import { short } from '../../domain/text/foreign-text.ts';
import {
  asReply,
  CANARY,
  SLOW_TIMEOUTS,
  canaryContext,
  getFirst,
  parseServerReply,
  mustName,
  sameIds,
  streamSeed,
  type ServerBackend,
  type ServerOptions,
  type ServerReply,
} from '../fleet/server-backend.ts';
import type { ServedTokenizer, TokenizerLoader } from '../tokenizer/server-tokenizer.ts';
import { setBound, withSets } from './set-limits.ts';
import { bytesFor, isOfSize, sglangExperts } from './given-experts.ts';
import {
  ASK_SETS,
  askExperts,
  GenerateBody,
  Given,
  heldTo,
  Info,
  Models,
  peek,
  Server,
  setsIn,
  usableLength,
} from './sglang-protocol.ts';
import { explicitSampling, meetServer, tokenServer, tokenServers } from './token-server.ts';
import { adapterSpans, labelOf, openVersions, versionUnder } from './version-spans.ts';

export function createSglangBackend(options: BackendOptions): Promise<TokenBackend> {
  return tokenServers(options, openSglang);
}

export function openSglang({ log, tokenizers, ...server }: ServerOptions): Promise<ServerBackend> {
  return meetServer(server, async (http) => {
    const { facts, served, spans, bound } = await learn(http, tokenizers);
    if (!spans)
      log(`${http.url} reports one version for a whole answer: an answer during an update is requested again.`);
    const identify = () => identityNow(http, tokenizers, facts);
    return serverBackend(http, { ...facts, identity: await identify() }, served, { spans, bound }, identify);
  });
}

async function learn(http: Http, tokenizers: TokenizerLoader) {
  const { served, name } = await whoIs(http, tokenizers);
  const server = parseServerReply(
    Server,
    await getFirst(http, ['/server_info', '/get_server_info'], {}),
    http.place('/server_info'),
  );
  const models = parseServerReply(Models, await http.get('/v1/models'), http.place('/v1/models'));
  const facts: TokenFacts = {
    kind: 'tokens',
    name: name ?? models.data[0]!.id,
    fingerprint: null,
    vocabSize: served.vocabSize,
    contextLength: usableLength(models.data[0]!.max_model_len, server.max_req_input_len, http.url),
    stopTokenIds: served.tokenizer.stopTokenIds,
    seeded: server.enable_deterministic_inference ?? false,
  };
  const contextIds = await canaryContext(served.tokenizer);
  let spans = true;
  const logprobs = await logprobMeaning(async (sampling) => {
    const reply = parseServerReply(
      GenerateBody,
      await lookAt(http, facts, contextIds, sampling, {}),
      http.place('/generate'),
    );
    spans = reply.meta_info.weight_versions != null;
    return peek(reply);
  });
  const most = setBound(server.sampling_mask_max_tokens, facts.vocabSize);
  const givesKept = await saysSets(http, facts, contextIds, most);
  const givesExperts =
    server.enable_return_routed_experts === true && (await saysExperts(http, facts, contextIds, served));
  return { facts: { ...facts, logprobs, givesKept, givesExperts }, served, spans, bound: givesKept ? most : null };
}

const SAYS_NONE: ReadonlySet<string> = new Set(['request-refused', 'server-error', 'reply-malformed']);

/** Whether a draw from less than the whole vocabulary says from what. An older server, and one with other switches, does not. */
async function saysSets(http: Http, facts: TokenFacts, ids: readonly number[], most: number): Promise<boolean> {
  const sampling = { ...DEFAULT_SAMPLING, topP: 0.9 };
  const params = samplingParams({ ...CANARY, sampling }, facts, most);
  try {
    const sent = await lookAt(http, facts, ids, sampling, { ...ASK_SETS, sampling_params: params });
    const { meta_info: said } = parseServerReply(GenerateBody, sent, http.place('/generate'));
    return said.output_token_sampling_mask != null && said.output_token_sampling_logprobs != null;
  } catch (error) {
    if (error instanceof ModelError && SAYS_NONE.has(error.reason)) return false;
    throw error;
  }
}

/** Whether it says the experts of all tokens, in the size that config.json gives. */
async function saysExperts(http: Http, facts: TokenFacts, ids: readonly number[], { routing }: ServedTokenizer) {
  const place = http.place('/generate');
  const sent = await lookAt(http, facts, ids, DEFAULT_SAMPLING, askExperts(0));
  const { meta_info: said, output_ids: made } = parseServerReply(GenerateBody, sent, place);
  const asked = { contextIds: ids, expertsFrom: 0, tokens: made?.length ?? 1 };
  return isOfSize(() => sglangExperts(said.routed_experts, routing, asked, place));
}

/** Samples one token, with the logprobs of the most probable tokens at its position. */
function lookAt(http: Http, facts: TokenFacts, ids: readonly number[], sampling: Sampling, more: object) {
  const params = samplingParams({ ...CANARY, sampling }, facts);
  const body = {
    input_ids: ids,
    sampling_params: params,
    return_logprob: true,
    top_logprobs_num: PEEK_TOKENS,
    ...more,
  };
  return http.post('/generate', body, { timeouts: SLOW_TIMEOUTS });
}

async function whoIs(http: Http, tokenizers: TokenizerLoader) {
  const info = parseServerReply(
    Info,
    await getFirst(http, ['/model_info', '/get_model_info'], {}),
    http.place('/model_info'),
  );
  const served = await tokenizers.load(info.tokenizer_path ?? info.model_path ?? null, http.url);
  return { served, name: info.served_model_name };
}

async function identityNow(http: Http, tokenizers: TokenizerLoader, facts: TokenFacts): Promise<ModelIdentity> {
  const { served, name } = await whoIs(http, tokenizers);
  const { contextLength } = facts;
  return serverIdentity({
    name: name ?? facts.name,
    served,
    contextLength,
    async canary(ids) {
      const { listed, top, version } = await givenBy(http, facts, ids, 0, PEEK_TOKENS);
      return serverCanary(
        listed.map(([logprob, id]) => [id, logprob]),
        top,
        version,
      );
    },
  });
}

/** SGLang takes the name of an adapter here, not its path. */
const underName = (adapter: NamedAdapter | undefined) => (adapter ? { lora_path: adapter.name } : {});

/** Logprobs of the ids from place `start` on, the first without one. */
async function givenBy(
  http: Http,
  facts: TokenFacts,
  ids: readonly number[],
  start: number,
  top: number,
  adapter?: NamedAdapter,
) {
  const more = { logprob_start_len: start, top_logprobs_num: top, ...underName(adapter) };
  const sent = await lookAt(http, facts, ids, DEFAULT_SAMPLING, more);
  const reply = parseServerReply(GenerateBody, sent, http.place('/generate'));
  const { weight_versions: spans, weight_version: label } = reply.meta_info;
  return {
    listed: Given.safeParse(sent).data?.meta_info.input_token_logprobs ?? [],
    top: peek(reply),
    version: labelOf(spans?.at(-1)?.version ?? label),
  };
}

function samplingParams(
  request: Pick<GenerateRequest, 'maxNewTokens' | 'sampling' | 'seed' | 'stopTokenIds' | 'form'>,
  facts: TokenFacts,
  most: number | null = null,
) {
  return {
    ...explicitSampling(request, facts, most),
    max_new_tokens: request.maxNewTokens,
    min_new_tokens: 0,
    sampling_seed: request.seed,
    ...(request.form && heldTo(request.form)),
  };
}

function serverBackend(
  http: Http,
  facts: TokenFacts,
  served: ServedTokenizer,
  { spans, bound }: { readonly spans: boolean; readonly bound: number | null },
  identify: () => Promise<ModelIdentity>,
): ServerBackend {
  const place = http.place('/generate');
  const versions = openVersions(place, (signal) => versionNow(http, signal), spans);

  async function ask(wanted: GenerateRequest, rid: string, call: RequestOptions): Promise<Reply> {
    const before = await versions.before(call.signal);
    const { request, most } = withSets(wanted, facts.vocabSize, bound);
    const { adapter, contextIds } = request;
    const expertsFrom = facts.givesExperts ? request.expertsFrom : undefined;
    const moreBytes = bytesFor(served.routing, { contextIds, expertsFrom, tokens: request.maxNewTokens });
    const body = {
      rid,
      input_ids: contextIds,
      sampling_params: samplingParams({ ...request, seed: streamSeed(request) }, facts, most),
      return_logprob: true,
      ...(most !== null && ASK_SETS),
      ...(expertsFrom !== undefined && askExperts(expertsFrom)),
      ...underName(adapter),
    };
    const reply = parseServerReply(GenerateBody, await http.post('/generate', body, { ...call, moreBytes }), place);
    const { weight_versions: said, weight_version: label, id } = reply.meta_info;
    mustName(rid, id, place);
    const answer = answerOf(reply);
    const tokens = answer.outputIds.length;
    const named =
      tokens === 0 && answer.finish !== 'stop'
        ? []
        : await versions.of({ spans: said, label }, tokens, before, call.signal);
    const sets = most === null ? {} : setsIn(reply, tokens, place);
    const versionsOf = adapterSpans(adapter, named, place);
    const result = asReply({ ...answer, ...sets, versions: versionsOf }, request, served, place);
    const asked = { contextIds, expertsFrom, tokens };
    const experts = sglangExperts(reply.meta_info.routed_experts, served.routing, asked, place);
    return { ...result, ...(experts && { experts }) };
  }

  function answerOf({ output_ids, meta_info: meta }: GenerateBody): Omit<ServerReply, 'versions'> {
    const { type: finish, matched, message, status_code: status } = meta.finish_reason;
    if (finish === 'abort' && status) throw statusError(status, {}, message ?? '', place);
    // No stop string was sent: SGLang reports one if its logits were NaN.
    if (finish === 'stop' && typeof matched === 'string')
      throw badReply(`stopped at ${short(matched, 500)}`, place, { flaw: 'a stop without a stop string' });
    // An answer without tokens may lack them.
    if (!meta.output_token_logprobs && (output_ids ? output_ids.length > 0 : finish !== 'abort')) {
      const flaw = 'meta_info.output_token_logprobs missing';
      throw badReply(`sent an answer that is of no use (${flaw})`, place, { flaw });
    }
    const pairs = meta.output_token_logprobs ?? [];
    const outputIds = pairs.map(([, id]) => id);
    if (output_ids && !sameIds(output_ids, outputIds)) throw badReply('gave two different lists of token ids', place);
    return {
      outputIds,
      logprobs: pairs.map(([logprob]) => logprob),
      finish,
      endedAt: typeof matched === 'number' ? matched : null,
      counts: { prompt: meta.prompt_tokens, completion: meta.completion_tokens, cached: meta.cached_tokens },
    };
  }

  async function given(ids: readonly number[], from: number, adapter?: NamedAdapter) {
    const { listed, version: model } = await givenBy(http, facts, ids, from - 1, 0, adapter);
    const version = versionUnder(adapter, model);
    const wanted = ids.slice(from);
    const last = listed.slice(-wanted.length);
    return { logprobs: last.map(([logprob, id], i) => (id === wanted[i] ? logprob : null)), version };
  }

  const abort = (rid: string) => ({ path: '/abort_request', body: { rid } });
  return tokenServer({ http, facts, tokenizer: served.tokenizer, ask, abort, identify, given });
}

/** The server's label of its weights; null if it reports none. */
export async function versionNow(http: Http, signal?: AbortSignal): Promise<string | null> {
  const info = await getFirst(http, ['/model_info', '/get_model_info'], signal ? { signal } : {});
  return labelOf(parseServerReply(Info, info, http.place('/model_info')).weight_version);
}
