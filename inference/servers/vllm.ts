// The vLLM backend: token ids in, token ids and logprobs out, by /inference/v1/generate if the server has it (it reports
// spans of weight versions), else by /v1/completions. Every sampling parameter is sent, because a generation_config.json
// changes defaults, and vLLM silently ignores unknown names. Not covered: multimodal inputs, beam search.

import { DEFAULT_SAMPLING } from '../../domain/rollout/sampling.ts';
import { ModelError } from '../../domain/errors/errors.ts';
import type { ModelIdentity } from '../../domain/weights/model-identity.ts';
import type { BackendOptions, GenerateRequest, Reply, TokenBackend, TokenFacts } from '../backend.ts';
import type { RequestOptions, Http } from '../http/http.ts';
import { badReply } from '../http/http-errors.ts';
import { serverCanary, serverIdentity } from '../fleet/identity.ts';
import { logprobMeaning, PEEK_TOKENS } from '../fleet/logprob-canary.ts';
import {
  asReply,
  CANARY,
  SLOW_TIMEOUTS,
  canaryContext,
  parseServerReply,
  mustName,
  otherName,
  sameIds,
  streamSeed,
  type ServerBackend,
  type ServerOptions,
} from '../fleet/server-backend.ts';
import type { ServedTokenizer, TokenizerLoader } from '../tokenizer/server-tokenizer.ts';
import { bytesFor, isOfSize, vllmExperts } from './given-experts.ts';
import { setBound, withSets } from './set-limits.ts';
import { explicitSampling, meetServer, tokenServer, tokenServers } from './token-server.ts';
import { adapterSpans, labelOf, openVersions } from './version-spans.ts';
import {
  COMPLETIONS,
  GENERATE,
  givenLogprobs,
  heldTo,
  Models,
  WeightInfo,
  type Endpoint,
  type Params,
} from './vllm-protocol.ts';

export function createVllmBackend(options: BackendOptions): Promise<TokenBackend> {
  return tokenServers(options, openVllm);
}

export function openVllm({ log, tokenizers, ...server }: ServerOptions): Promise<ServerBackend> {
  return meetServer(server, async (http) => {
    const { url } = http;
    const model = await modelOf(http);
    if (!model.max_model_len) {
      throw new ModelError(`${url} does not report the length of its model's context`, {
        reason: 'reply-malformed',
        fix: 'Is it a vLLM? Any other server that speaks like OpenAI is named openai:<url>#<model>.',
      });
    }
    const served = await tokenizers.load(model.root ?? model.id, url);
    const facts: TokenFacts = {
      kind: 'tokens',
      name: model.id,
      fingerprint: null,
      vocabSize: served.vocabSize,
      contextLength: model.max_model_len,
      stopTokenIds: served.tokenizer.stopTokenIds,
      seeded: true,
    };
    const contextIds = await canaryContext(served.tokenizer);
    const endpoint = await findEndpoint(http, facts, contextIds);
    if (!endpoint.reportsSpans) {
      log(
        (await weightVersion(http)) !== null
          ? `${url} answers by ${endpoint.path}: an answer during an update is requested again.`
          : `${url} does not report the version of its weights: 0 is stored. (--enable-scale-out, or VLLM_SERVER_DEV_MODE=1)`,
      );
    }
    let givesExperts = false;
    const logprobs = await logprobMeaning(async (sampling) => {
      const params = samplingParams({ ...CANARY, sampling }, facts, PEEK_TOKENS, finiteTopK(facts, endpoint));
      const sent = await lookAt(http, endpoint, { model: facts.name, contextIds, id: null, params });
      if (sent === null) return null;
      const place = http.place(endpoint.path);
      const choice = parseServerReply(endpoint.reply, sent, place);
      const asked = { contextIds, expertsFrom: 0, tokens: choice.ids?.length ?? 1 };
      givesExperts = isOfSize(() => vllmExperts(choice.experts, asked, place));
      return endpoint.peek(choice);
    });
    const readsContexts = !(await takesAdapters(http));
    const identify = () => identityNow(http, tokenizers, facts, endpoint, readsContexts);
    // Sets alone do not say what was drawn: its logprobs must be over them.
    const givesKept = endpoint.givesSets && logprobs === 'policy';
    const known = { ...facts, logprobs, givesKept, givesExperts, identity: await identify() };
    const backend = serverBackend(http, known, served, endpoint, identify);
    if (readsContexts) return backend;
    const { given: _, ...others } = backend;
    return others;
  });
}

async function modelOf(http: Http) {
  return parseServerReply(Models, await http.get('/v1/models'), http.place('/v1/models')).data[0]!;
}

async function identityNow(
  http: Http,
  tokenizers: TokenizerLoader,
  facts: TokenFacts,
  endpoint: Endpoint,
  readsContexts: boolean,
): Promise<ModelIdentity> {
  const { id, root } = await modelOf(http);
  const served = await tokenizers.load(root ?? id, http.url);
  const { contextLength } = facts;
  const whole = { ...CANARY, sampling: DEFAULT_SAMPLING };
  const plain = samplingParams(whole, facts, PEEK_TOKENS, finiteTopK(facts, endpoint));
  return serverIdentity({
    name: id,
    served,
    contextLength,
    async canary(contextIds) {
      // Not every configuration of vLLM returns logprobs of a context.
      for (const params of [...(readsContexts ? [{ ...plain, prompt_logprobs: 0 }] : []), plain]) {
        const found = await givenBy(http, endpoint, { model: id, contextIds, id: null, params });
        if (found) return serverCanary(found.listed, found.top, found.version);
      }
      return null;
    },
  });
}

/**
 * One that is started for adapters gives wrong logprobs of contexts, and on a CPU it may end of the question, whatever the
 * request names (vllm#51594, #29955). The path takes no GET: 405.
 */
async function takesAdapters(http: Http): Promise<boolean> {
  try {
    await http.get('/v1/load_lora_adapter');
    return true;
  } catch (error) {
    // What stands before it may answer anything to a path that it does not know.
    if (error instanceof ModelError && (!error.retryable || error.reason === 'reply-malformed'))
      return error.reason === 'request-refused';
    throw error;
  }
}

/** Null if the server refuses. */
async function givenBy(http: Http, endpoint: Endpoint, call: Parameters<Endpoint['body']>[0]) {
  const before = endpoint.reportsSpans ? null : await weightVersion(http);
  const sent = await lookAt(http, endpoint, call);
  if (sent === null) return null;
  const top = endpoint.peek(parseServerReply(endpoint.reply, sent, http.place(endpoint.path)));
  const version = endpoint.reportsSpans ? (top?.version ?? null) : before;
  return { listed: givenLogprobs(sent, call.contextIds), top, version };
}

/** The endpoint of a server that has answered before: it was started without whatever it now forbids or lacks. */
async function findEndpoint(http: Http, facts: TokenFacts, contextIds: readonly number[]): Promise<Endpoint> {
  const tried = async (endpoint: Endpoint): Promise<Endpoint> => {
    const params = samplingParams({ ...CANARY, sampling: DEFAULT_SAMPLING }, facts, 0, finiteTopK(facts, endpoint));
    const body = endpoint.body({ model: facts.name, contextIds, id: null, params });
    const sent = await http.post(endpoint.path, body, { timeouts: SLOW_TIMEOUTS });
    const { spans, kept } = parseServerReply(endpoint.reply, sent, http.place(endpoint.path));
    return { ...endpoint, reportsSpans: spans !== null, givesSets: endpoint.givesSets && kept !== null };
  };
  try {
    return await tried(GENERATE).catch((error: unknown) => {
      // One that says what it draws from takes no request without top-k.
      if (error instanceof ModelError && error.reason === 'request-refused')
        return tried({ ...GENERATE, givesSets: true });
      throw error;
    });
  } catch (error) {
    const absent = error instanceof ModelError && ['server-auth', 'server-lacks'].includes(error.reason);
    if (absent) return COMPLETIONS;
    throw error;
  }
}

/** All ids, said as a number to one that says what it draws from; null: there is no top-k. */
const finiteTopK = ({ vocabSize }: TokenFacts, { givesSets }: Endpoint) => (givesSets ? vocabSize : null);

/** A server may refuse logprobs of other tokens (--max-logprobs): null. */
async function lookAt(http: Http, endpoint: Endpoint, call: Parameters<Endpoint['body']>[0]): Promise<unknown> {
  try {
    return await http.post(endpoint.path, endpoint.body(call), { timeouts: SLOW_TIMEOUTS });
  } catch (error) {
    if (error instanceof ModelError && error.reason === 'request-refused') return null;
    throw error;
  }
}

function samplingParams(
  request: Pick<GenerateRequest, 'maxNewTokens' | 'sampling' | 'seed' | 'stopTokenIds' | 'form'>,
  facts: TokenFacts,
  logprobs: number,
  most: number | null,
): Params {
  return {
    ...explicitSampling(request, facts, most),
    max_tokens: request.maxNewTokens,
    min_tokens: 0,
    seed: request.seed,
    logprobs,
    ...(request.form && { structured_outputs: heldTo(request.form) }),
  };
}

/** vLLM raises a lower temperature to this one, and reports that only in its log. */
const LEAST_TEMPERATURE = 0.01;

function serverBackend(
  http: Http,
  facts: TokenFacts,
  served: ServedTokenizer,
  endpoint: Endpoint,
  identify: () => Promise<ModelIdentity>,
): ServerBackend {
  const place = http.place(endpoint.path);
  const versions = openVersions(place, (signal) => weightVersion(http, signal), endpoint.reportsSpans);
  const bound = facts.givesKept ? setBound(null, facts.vocabSize) : null;

  function check({ sampling: { temperature } }: GenerateRequest): void {
    if (temperature > 0 && temperature < LEAST_TEMPERATURE) {
      throw new ModelError(`vLLM takes no temperature of ${temperature}`, {
        reason: 'bad-sampling',
        fix: `Give 0 (greedy), or at least ${LEAST_TEMPERATURE}.`,
      });
    }
  }

  async function ask(wanted: GenerateRequest, id: string, call: RequestOptions): Promise<Reply> {
    const before = await versions.before(call.signal);
    const { request, most } = withSets(wanted, facts.vocabSize, bound);
    const { contextIds } = request;
    const topK = most ?? finiteTopK(facts, endpoint);
    const { adapter } = request;
    const expertsFrom = facts.givesExperts ? request.expertsFrom : undefined;
    const params = {
      ...samplingParams({ ...request, seed: streamSeed(request) }, facts, 0, topK),
      ...(expertsFrom !== undefined && { routed_experts_prompt_start: expertsFrom }),
    };
    const model = adapter?.name ?? facts.name;
    const body = endpoint.body({ model, contextIds, id, params });
    const moreBytes = bytesFor(served.routing, { contextIds, expertsFrom, tokens: request.maxNewTokens });
    const sent = await http.post(endpoint.path, body, {
      ...call,
      moreBytes,
      headers: { ...call.headers, 'x-request-id': id },
    });
    const choice = parseServerReply(endpoint.reply, sent, place);
    mustName(id, choice.id, place);
    const answer = endpoint.answer(choice);
    if (answer === null) {
      throw new ModelError(`${place.url}${place.path} gave text but no token ids`, {
        reason: 'no-token-ids',
        fix: 'A vLLM from 0.10 on gives them.',
      });
    }
    if (answer.finish === null) throw badReply('ended for a reason that is unknown here', place);
    // A list of another length is rejected below, by its length.
    const twoLists = choice.named?.length === answer.outputIds.length && !sameIds(choice.named, answer.outputIds);
    if (twoLists) throw badReply('gave two different lists of token ids', place);
    const tokens = answer.outputIds.length;
    const named =
      tokens === 0 && answer.finish !== 'stop' ? [] : await versions.of(choice, tokens, before, call.signal);
    const sets = most !== null && choice.kept && { kept: choice.kept };
    const reply = { ...answer, ...sets, finish: answer.finish, versions: adapterSpans(adapter, named, place) };
    const result = asReply(reply, request, served, place);
    if (choice.read.some((ids) => !sameIds(ids, contextIds)))
      throw badReply('read other prompt tokens than were sent', place, { flaw: 'other prompt tokens than were sent' });
    if (choice.model !== null && choice.model !== model) throw otherName(choice.model, model, place);
    const experts = vllmExperts(choice.experts, { contextIds, expertsFrom, tokens }, place);
    return { ...result, ...(experts && { experts }) };
  }

  async function given(contextIds: readonly number[], from: number) {
    const whole = { ...CANARY, sampling: DEFAULT_SAMPLING };
    const params = { ...samplingParams(whole, facts, 1, finiteTopK(facts, endpoint)), prompt_logprobs: 0 };
    const found = await givenBy(http, endpoint, { model: facts.name, contextIds, id: null, params });
    return found && { logprobs: found.listed.slice(from).map(([, logprob]) => logprob), version: found.version };
  }

  const abort = (id: string) => ({ path: endpoint.abortPath, body: { request_ids: [endpoint.nameOf(id)] } });
  return tokenServer({ http, facts, tokenizer: served.tokenizer, check, ask, abort, identify, given });
}

/** Null if the server does not report it; it does so only in its development mode. */
async function weightVersion(http: Http, signal?: AbortSignal): Promise<string | null> {
  try {
    const info = await http.get('/weight_info', signal ? { signal } : {});
    return labelOf(parseServerReply(WeightInfo, info, http.place('/weight_info')).weight_version);
  } catch (error) {
    if (error instanceof ModelError && ['server-lacks', 'server-auth'].includes(error.reason)) return null;
    throw error;
  }
}
