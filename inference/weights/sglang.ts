// SGLang's way to other weights. `retract` takes requests in flight back into its queue, and the update empties its
// cache: what comes after it is computed from the first token on by the new weights alone.

import { z } from 'zod';

import { ModelError } from '../../domain/errors.ts';
import type { Http } from '../http/http.ts';
import { getFirst, parseReply, wordOf } from '../fleet/server-backend.ts';
import { CONTROL_TIMEOUTS, type WeightControls } from './controls.ts';

const Info = z.object({ weight_version: z.union([z.string(), z.number()]).nullish() });
const UPDATE = '/update_weights_from_disk';

export function sglangControls(http: Http): WeightControls {
  return {
    http,
    async version() {
      const told = await getFirst(http, ['/model_info', '/get_model_info'], {});
      return wordOf(parseReply(Info, told, http.place('/model_info')).weight_version);
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
    // It says no before it touches anything, or goes back to what it had; only its cache can be left behind.
    keptItsWeights: (error) =>
      error instanceof ModelError && error.reason === 'request-refused' && !/weights were updated/i.test(error.message),
  };
}
