// Which servers can be given other weights, by the scheme of --model.

import { UsageError } from '../../domain/errors.ts';
import { readApiKey } from '../http/api-key.ts';
import { openHttp, type Http } from '../http/http.ts';
import { parseModelSpec } from '../index.ts';
import { parseServerUrls } from '../http/server-url.ts';
import type { WeightControls } from './controls.ts';
import { sglangControls } from './sglang.ts';
import { vllmControls } from './vllm.ts';
import { updateWeights, type NewWeights, type ServerUpdate, type UpdateOptions } from './update.ts';

const CONTROLS: Readonly<Record<string, (http: Http) => WeightControls>> = {
  sglang: sglangControls,
  vllm: vllmControls,
};

/** Throws a UsageError for a model whose weights are nobody's to change. */
export async function updateModel(
  model: string,
  weights: NewWeights,
  { apiKeyEnv, ...options }: UpdateOptions & { readonly apiKeyEnv: string | null },
): Promise<ServerUpdate[]> {
  const { scheme, target } = parseModelSpec(model);
  const controls = CONTROLS[scheme];
  if (!controls) {
    throw new UsageError(`${model} is no server that takes other weights.`, {
      reason: 'no-weights-to-update',
      fix: `Those of ${Object.keys(CONTROLS).join(' and ')} do.`,
    });
  }
  const apiKey = readApiKey(apiKeyEnv);
  const servers = parseServerUrls(target).map((url) => controls(openHttp({ url, apiKey })));
  try {
    return await updateWeights(servers, weights, options);
  } finally {
    await Promise.allSettled(servers.map(({ http }) => http.close()));
  }
}
