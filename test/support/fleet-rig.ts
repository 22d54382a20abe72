// Scripted servers as a fleet, for tests: opened here, closed by whoever calls `closeAll` after each test.

import { DEFAULT_SETTINGS } from '../../domain/rollout/settings.ts';
import { DEFAULT_SAMPLING } from '../../domain/rollout/sampling.ts';
import type { TokenBackend, FleetOptions, GenerateRequest } from '../../inference/backend.ts';
import { openFleet, type FleetParts } from '../../inference/fleet/fleet.ts';
import { tokenRules } from '../../inference/fleet/token-fleet.ts';
import { tokenizerLoader } from '../../inference/tokenizer/server-tokenizer.ts';
import { openSglang } from '../../inference/servers/sglang.ts';
import { undisturbed } from '../contract/backend.ts';
import { modelServer, type ModelServer } from './model-server.ts';
import { TINY_FOLDER } from './tiny.ts';
import type { Shape } from './toy-engine.ts';

/** How requests are spread where nothing is said. */
export const SPREAD: FleetOptions = { ...DEFAULT_SETTINGS, leaseFolder: null };

export const opened: { close(): Promise<void> }[] = [];
export async function closeAll(): Promise<void> {
  for (const it of opened.splice(0).toReversed()) await it.close();
}

export async function servers(count: number, shape: Partial<Shape> = {}): Promise<ModelServer[]> {
  const all = await Promise.all(
    Array.from({ length: count }, () => modelServer({ kind: 'sglang', modelPath: TINY_FOLDER, ...shape })),
  );
  opened.push(...all);
  return all;
}

export async function fleet(
  of: readonly { readonly url: string }[],
  options: Partial<FleetOptions & Pick<FleetParts<'tokens'>, 'late'>> = {},
  circuit: FleetParts<'tokens'>['circuit'] = { coolDownMs: 20, longestCoolDownMs: 100 },
  log: (line: string) => void = () => undefined,
): Promise<TokenBackend> {
  const tokenizers = tokenizerLoader(null);
  const backend = await openFleet({
    urls: of.map(({ url }) => url),
    ...SPREAD,
    ...options,
    log,
    rules: tokenRules(log),
    circuit,
    open: (url) => openSglang({ url, apiKey: null, tokenizers, log }),
  });
  opened.push(backend);
  return backend;
}

export const request = (rollout: string, changes: Partial<GenerateRequest> = {}): GenerateRequest => ({
  requestId: `${rollout}/1`,
  contextIds: [5, 6, 7],
  maxNewTokens: 4,
  sampling: DEFAULT_SAMPLING,
  seed: 1,
  deterministic: false,
  stopTokenIds: [],
  ...changes,
});

export const ask = (backend: TokenBackend, rollout: string, changes: Partial<GenerateRequest> = {}) =>
  backend.generate(request(rollout, changes), undisturbed());

export const generations = ({ seen }: ModelServer) =>
  seen.filter(({ path, body }) => path === '/generate' && 'rid' in body).length;
