// Weight updates of SGLang. `retract` moves requests in flight back into its queue, and the update flushes its KV cache:
// every later token is computed by the new weights alone, its whole context included.

import { z } from 'zod';

import { ModelError } from '../../domain/errors/errors.ts';
import type { Http } from '../http/http.ts';
import { getFirst, parseReply } from '../fleet/server-backend.ts';
import { labelOf } from '../servers/version-spans.ts';
import { CONTROL_TIMEOUTS, type WeightControls } from './controls.ts';

const Info = z.object({ weight_version: z.union([z.string(), z.number()]).nullish() });
const UPDATE = '/update_weights_from_disk';

export function sglangControls(http: Http): WeightControls {
  return {
    http,
    async version() {
      const info = await getFirst(http, ['/model_info', '/get_model_info'], {});
      return labelOf(parseReply(Info, info, http.place('/model_info')).weight_version);
    },
    async pause() {
      await http.post('/pause_generation', { mode: 'retract' }, { timeouts: CONTROL_TIMEOUTS });
    },
    async load(from, version) {
      await http.post(UPDATE, { model_path: from, weight_version: version, flush_cache: true });
    },
    async resume() {
      await http.post('/continue_generation', {}, { timeouts: CONTROL_TIMEOUTS });
    },
    async name(version) {
      const body = { new_version: version, abort_all_requests: false };
      await http.post('/update_weight_version', body, { timeouts: CONTROL_TIMEOUTS });
    },
    // SGLang refuses before it changes anything, or rolls back; only its KV cache may stay unflushed.
    keptItsWeights: (error) =>
      error instanceof ModelError && error.reason === 'request-refused' && !/weights were updated/i.test(error.message),
  };
}
