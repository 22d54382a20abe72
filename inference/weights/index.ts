// The models whose weights can be replaced, by the scheme of --model: servers with controls for it, and embedded ones.

import { UsageError } from '../../domain/errors/errors.ts';
import type { WeightServer } from '../../domain/weights/weight-parts.ts';
import { readApiKey } from '../http/api-key.ts';
import { openHttp, type Http } from '../http/http.ts';
import { parseModelSpec } from '../index.ts';
import { sglangServer } from './sglang.ts';
import { vllmServer } from './vllm.ts';

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
export const weightServer = (model: string, url: string, apiKeyEnv: string | null): WeightServer =>
  SERVERS[parseModelSpec(model).scheme]!(openHttp({ url, apiKey: readApiKey(apiKeyEnv) }));
