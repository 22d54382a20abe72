// The models whose weights can be replaced, by the scheme of --model: servers with controls for it, and embedded ones.

import { UsageError } from '../../domain/errors/errors.ts';
import { readApiKey } from '../http/api-key.ts';
import { openHttp, type Http } from '../http/http.ts';
import { parseModelSpec } from '../index.ts';
import type { WeightControls } from './controls.ts';
import { sglangControls } from './sglang.ts';
import { vllmControls } from './vllm.ts';

const CONTROLS: Readonly<Record<string, (http: Http) => WeightControls>> = {
  sglang: sglangControls,
  vllm: vllmControls,
};
const EMBEDDED = new Set(['tiny', 'transformers']);

/** The servers of a model; null if it is embedded. Throws a UsageError for one whose weights cannot be replaced. */
export function weightServers(model: string): readonly string[] | null {
  const { scheme, servers } = parseModelSpec(model);
  if (EMBEDDED.has(scheme)) return null;
  if (CONTROLS[scheme]) return servers;
  throw new UsageError(`${model} takes no other weights.`, {
    reason: 'no-weights-to-update',
    fix: `Models of ${[...Object.keys(CONTROLS), ...EMBEDDED].join(', ')} do.`,
  });
}

/** The controls of one server of the model. The caller closes them. */
export function openControls(
  model: string,
  url: string,
  apiKeyEnv: string | null,
): WeightControls & { close(): Promise<void> } {
  const http = openHttp({ url, apiKey: readApiKey(apiKeyEnv) });
  return { ...CONTROLS[parseModelSpec(model).scheme]!(http), close: () => http.close() };
}
