// Shared by all servers of token ids, whatever their protocol: several form a fleet; a failed start closes its
// connections; each request is checked, watched for hangs, and aborted at the server once nobody waits for it. A budget
// that a server refuses is cut to what it takes, and the answer is then shorter than was asked for.

import type { ModelIdentity } from '../../domain/weights/model-identity.ts';
import { readApiKey } from '../http/api-key.ts';
import type { BackendOptions, GenerateRequest, Reply, TokenBackend, TokenFacts } from '../backend.ts';
import { openFleet } from '../fleet/fleet.ts';
import { tokenRules } from '../fleet/token-fleet.ts';
import { openHttp, type RequestOptions, type Http } from '../http/http.ts';
import { halfRoom, refusalIn, type Room, roomIn } from '../budget-room.ts';
import { checkRequest } from '../request.ts';
import {
  ABORT_TIMEOUTS,
  callId,
  routingHeaders,
  type ServerBackend,
  type ServerOptions,
  servedNames,
} from '../fleet/server-backend.ts';
import { tokenizerLoader } from '../tokenizer/server-tokenizer.ts';
import { parseServerUrls } from '../http/server-url.ts';
import { watchHealth } from './health-watch.ts';

export function tokenServers(
  options: BackendOptions,
  open: (server: ServerOptions) => Promise<ServerBackend>,
): Promise<TokenBackend> {
  const urls = parseServerUrls(options.target);
  const apiKey = readApiKey(options.apiKeyEnv);
  const { log } = options;
  const requestTimeoutMs = options.requestTimeoutSeconds * 1000;
  const tokenizers = tokenizerLoader(options.tokenizer, options.mayLoad);
  return openFleet({
    ...options,
    urls,
    rules: tokenRules(log),
    open: (url) => open({ url, apiKey, requestTimeoutMs, tokenizers, log }),
  });
}

export async function meetServer(
  { url, apiKey, requestTimeoutMs }: Pick<ServerOptions, 'url' | 'apiKey' | 'requestTimeoutMs'>,
  meet: (http: Http) => Promise<ServerBackend>,
): Promise<ServerBackend> {
  const http = openHttp({ url, apiKey, requestTimeoutMs });
  try {
    return await meet(http);
  } catch (error) {
    await http.close();
    throw error;
  }
}

/**
 * Every parameter by name, because a server may be started with other defaults: what SGLang and vLLM call alike. `most`: top-k,
 * at most, of a server that says what it draws from; null: of none.
 */
export function explicitSampling(
  { sampling, stopTokenIds }: Pick<GenerateRequest, 'sampling' | 'stopTokenIds'>,
  { vocabSize }: Pick<TokenFacts, 'vocabSize'>,
  most: number | null = null,
) {
  const { temperature, topP, topK, minP = 0 } = sampling;
  return {
    n: 1,
    temperature,
    top_p: topP,
    top_k: most !== null ? Math.min(topK, most) : topK >= vocabSize ? -1 : topK,
    min_p: minP,
    frequency_penalty: 0,
    presence_penalty: 0,
    repetition_penalty: 1,
    stop_token_ids: stopTokenIds,
    // `ignore_eos` ignores all stop ids, so it is set only if there are none.
    ignore_eos: stopTokenIds.length === 0,
  };
}

interface TokenServer extends Pick<ServerBackend, 'facts' | 'tokenizer' | 'given'> {
  readonly http: Http;
  /** Throws for requests that this kind of server cannot serve, beyond those that no model can. */
  readonly check?: (request: GenerateRequest) => void;
  /** `id` is the call's name at the server. */
  readonly ask: (request: GenerateRequest, id: string, call: RequestOptions) => Promise<Reply>;
  readonly identify: () => Promise<ModelIdentity>;
  /** The request that aborts a call. */
  readonly abort: (id: string) => { readonly path: string; readonly body: unknown };
}

export function tokenServer({
  http,
  facts,
  tokenizer,
  check,
  ask,
  abort,
  identify,
  given,
}: TokenServer): ServerBackend {
  const health = watchHealth(http);
  /** The server's own limit of an answer, once it has named one. */
  let mostNewTokens = Infinity;

  async function watched(request: GenerateRequest, signal: AbortSignal, onSent: () => void): Promise<Reply> {
    const id = callId(request.requestId);
    const takeBack = () => {
      const { path, body } = abort(id);
      http.post(path, body, { timeouts: ABORT_TIMEOUTS }).catch(() => undefined);
    };
    signal.addEventListener('abort', takeBack, { once: true });
    try {
      return await ask(request, id, { signal, headers: routingHeaders(request.requestId), onSent });
    } finally {
      signal.removeEventListener('abort', takeBack);
    }
  }

  return {
    url: http.url,
    facts,
    tokenizer,
    identify,
    ...(given && { given }),
    names: () => servedNames(http),
    async generate(request, { signal, onProgress }) {
      signal.throwIfAborted();
      checkRequest(request, facts);
      check?.(request);
      let [most, own] = [Math.min(request.maxNewTokens, mostNewTokens), mostNewTokens];
      for (;;) {
        try {
          const asked = { ...request, maxNewTokens: most };
          const reply = await health.during(signal, (either) => watched(asked, either, () => onProgress?.(0)));
          mostNewTokens = Math.min(mostNewTokens, own);
          return reply;
        } catch (error) {
          const room = roomLeft(error, request.contextIds.length, most);
          if (!room) throw error;
          most = room.most;
          if (room.own) own = most;
        }
      }
    },
    close: http.close,
  };
}

/** Undefined: no smaller budget would be taken. */
function roomLeft(error: unknown, contextTokens: number, asked: number): Room | undefined {
  const words = refusalIn(error)?.words;
  const room = words === undefined ? undefined : (roomIn(words, asked, contextTokens) ?? halfRoom(words, asked));
  return room && room.most > 0 ? room : undefined;
}
