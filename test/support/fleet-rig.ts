// Scripted servers, alone or as a fleet, for tests: opened here, closed by whoever calls `closeAll` after each test.

import { DEFAULT_SETTINGS } from '../../domain/rollout/settings.ts';
import { DEFAULT_SAMPLING } from '../../domain/rollout/sampling.ts';
import type { TokenBackend, FleetOptions, GenerateRequest } from '../../inference/backend.ts';
import { openFleet, type FleetParts } from '../../inference/fleet/fleet.ts';
import { tokenRules } from '../../inference/fleet/token-fleet.ts';
import { tokenizerLoader } from '../../inference/tokenizer/server-tokenizer.ts';
import { openSglang } from '../../inference/servers/sglang.ts';
import { openVllm } from '../../inference/servers/vllm.ts';
import { undisturbed } from '../contract/backend.ts';
import { listenHttp } from './http-listener.ts';
import { createTokenBackend } from './kinds.ts';
import { modelServer, type ModelServer } from './model-server.ts';
import { TINY_FOLDER } from './tiny.ts';
import type { Shape } from './toy-engine.ts';

/** How requests are spread where nothing is said. */
export const SPREAD: FleetOptions = { ...DEFAULT_SETTINGS, leaseFolder: null };

export const opened: { close(): Promise<void> }[] = [];
export async function closeAll(): Promise<void> {
  for (const it of opened.splice(0).toReversed()) await it.close();
}

export async function serverOf(shape: Shape): Promise<ModelServer> {
  const one = await modelServer({ modelPath: TINY_FOLDER, ...shape });
  opened.push(one);
  return one;
}

export async function backendOf({ url, engine }: ModelServer, options: object = {}): Promise<TokenBackend> {
  const spec = `${engine.shape.kind}:${url}`;
  const backend = await createTokenBackend(spec, { tokenizer: null, log: () => undefined, ...options });
  opened.push(backend);
  return backend;
}

/** A server and a backend that asks it. */
export async function serverAndBackend(shape: Shape, options: object = {}) {
  const server = await serverOf(shape);
  return { server, backend: await backendOf(server, options) };
}

export async function servers(count: number, shape: Partial<Shape> = {}): Promise<ModelServer[]> {
  return Promise.all(Array.from({ length: count }, () => serverOf({ kind: 'sglang', ...shape })));
}

export async function fleet(
  of: readonly ModelServer[],
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
    open: (url) =>
      (of[0]!.engine.shape.kind === 'vllm' ? openVllm : openSglang)({ url, apiKey: null, tokenizers, log }),
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

/** Another process at the same address. */
export async function replaced(old: ModelServer, changes: Partial<Shape>): Promise<ModelServer> {
  await old.close();
  return serverOf({ ...old.engine.shape, ...changes, port: old.port });
}

/** What stands before a server, and changes what it says. */
export async function behind(origin: ModelServer, change: (text: string) => string): Promise<ModelServer> {
  const proxy = await listenHttp((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = 'GET', url = '/' } = request;
      const body = method === 'GET' ? {} : { body: Buffer.concat(chunks) };
      void fetch(`${origin.url}${url}`, { method, ...body }).then(async (answer) => {
        const text = await answer.text();
        response.writeHead(answer.status, { 'content-type': 'application/json' }).end(change(text));
      });
    });
  });
  opened.push({ close: async () => proxy.close() });
  return { ...origin, url: proxy.url, port: proxy.port };
}
