// Weight updates of vLLM, in its development mode. `keep` freezes requests in flight; once the new weights are loaded,
// all KV caches are dropped, theirs included, and only then the label of the weights changes.

import { z } from 'zod';

import { ModelError } from '../../domain/errors/errors.ts';
import type { Http } from '../http/http.ts';
import type { WeightServer } from '../../domain/weights/weight-parts.ts';
import { parseServerReply, SLOW_TIMEOUTS } from '../fleet/server-backend.ts';
import { labelOf } from '../servers/version-spans.ts';
import { WeightInfo } from '../servers/vllm-protocol.ts';

const RESET = '/reset_prefix_cache?reset_running_requests=true&reset_external=true';
const Reset = z.object({ success: z.boolean() });

export function vllmServer(http: Http): WeightServer {
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
