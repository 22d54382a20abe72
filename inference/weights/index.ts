// The models whose weights can be replaced, by the scheme of --model: servers with controls for it, and embedded ones.

import { z } from 'zod';
import { ModelError, UsageError } from '../../domain/errors/errors.ts';
import type { AdapterToLoad } from '../../domain/weights/adapter.ts';
import type { WeightServer } from '../../domain/weights/weights.ts';
import { readApiKey } from '../http/api-key.ts';
import { type Http, openHttp } from '../http/http.ts';
import { parseModelSpec } from '../index.ts';
import { parseServerReply, SLOW_TIMEOUTS } from '../fleet/server-backend.ts';
import { versionNow } from '../servers/sglang.ts';
import { labelOf } from '../servers/version-spans.ts';
import { WeightInfo } from '../servers/vllm-protocol.ts';
import { readAdapter } from './adapter-folder.ts';
import { adapterServer } from './adapter-server.ts';

const SERVERS: Readonly<Record<string, (http: Http) => WeightServer>> = { sglang: sglangServer, vllm: vllmServer };
const EMBEDDED = new Set(['tiny', 'transformers']);

/** The servers of a model; null if it is embedded. Throws a UsageError for one whose weights cannot be replaced. */
export function weightServers(model: string): readonly string[] | null {
  const { scheme, servers } = parseModelSpec(model);
  if (EMBEDDED.has(scheme)) return null;
  if (SERVERS[scheme]) return servers;
  throw new UsageError(`${model} takes no other weights.`, {
    reason: 'no-weights-to-update',
    fix: `Models of ${[...Object.keys(SERVERS), ...EMBEDDED].join(', ')} do.`,
  });
}

/** One server of the model. The caller closes it. */
export function weightServer(
  model: string,
  url: string,
  apiKeyEnv: string | null,
  adapter: AdapterToLoad | null = null,
): WeightServer {
  const http = openHttp({ url, apiKey: readApiKey(apiKeyEnv) });
  const { scheme } = parseModelSpec(model);
  return adapter ? adapterServer(http, scheme as 'vllm', adapter) : SERVERS[scheme]!(http);
}

export const adapterHash = async (folder: string): Promise<string> => (await readAdapter(folder)).hash;

const UPDATE = '/update_weights_from_disk';

/**
 * `retract` moves requests in flight back into SGLang's queue, and the update flushes its KV cache: every later token is computed by
 * the new weights alone, its whole context included.
 */
function sglangServer(http: Http): WeightServer {
  return {
    url: http.url,
    version: () => versionNow(http),
    async pause() {
      await http.post('/pause_generation', { mode: 'retract' }, { timeouts: SLOW_TIMEOUTS });
    },
    async load(from, version) {
      await http.post(UPDATE, { model_path: from, weight_version: version, flush_cache: true });
    },
    async resume() {
      await http.post('/continue_generation', {}, { timeouts: SLOW_TIMEOUTS });
    },
    async name(version) {
      const body = { new_version: version, abort_all_requests: false };
      await http.post('/update_weight_version', body, { timeouts: SLOW_TIMEOUTS });
    },
    // SGLang refuses before it changes anything, or rolls back; only its KV cache may stay unflushed.
    keptItsWeights: (error) =>
      error instanceof ModelError && error.reason === 'request-refused' && !/weights were updated/i.test(error.message),
    close: http.close,
  };
}

const RESET = '/reset_prefix_cache?reset_running_requests=true&reset_external=true';
const Reset = z.object({ success: z.boolean() });

/**
 * Needs vLLM's development mode. `keep` freezes requests in flight; once the new weights are loaded, all KV caches are dropped,
 * theirs included, and only then the label of the weights changes.
 */
function vllmServer(http: Http): WeightServer {
  const post = (path: string, body?: unknown) => http.post(path, body, { timeouts: SLOW_TIMEOUTS });
  return {
    url: http.url,
    async version() {
      const info = await inDevelopmentMode(http.url, () => http.get('/weight_info'));
      return labelOf(parseServerReply(WeightInfo, info, http.place('/weight_info')).weight_version);
    },
    async pause() {
      await post('/pause?mode=keep');
    },
    async load(from, version) {
      await http.post('/collective_rpc', { method: 'reload_weights', kwargs: { weights_path: from } });
      const reset = parseServerReply(Reset, await post(RESET), http.place('/reset_prefix_cache'));
      if (!reset.success) {
        throw new ModelError(`${http.url} has the new weights, and did not give up what it computed by the old ones`, {
          reason: 'cache-kept',
          fix: 'Repeat the command.',
        });
      }
      await post('/update_weight_version', { new_version: version });
    },
    async name(version) {
      await post('/update_weight_version', { new_version: version });
    },
    async resume() {
      await post('/resume');
    },
    // A folder that cannot be loaded kills the engine, and no error reports how far the load came.
    keptItsWeights: () => false,
    close: http.close,
  };
}

async function inDevelopmentMode<T>(url: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ModelError) || error.reason !== 'server-lacks') throw error;
    throw new ModelError(`${url} takes no other weights as it runs now`, {
      reason: 'server-lacks',
      fix: 'vLLM does when it is started with VLLM_SERVER_DEV_MODE=1.',
      cause: error,
    });
  }
}
