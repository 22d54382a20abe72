// Weight updates of SGLang. `retract` moves requests in flight back into its queue, and the update flushes its KV cache:
// every later token is computed by the new weights alone, its whole context included.

import { ModelError } from '../../domain/errors/errors.ts';
import type { Http } from '../http/http.ts';
import type { WeightServer } from '../../domain/weights/weight-parts.ts';
import { SLOW_TIMEOUTS } from '../fleet/server-backend.ts';
import { versionNow } from '../servers/sglang.ts';

const UPDATE = '/update_weights_from_disk';

export function sglangServer(http: Http): WeightServer {
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
