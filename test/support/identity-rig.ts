// Scripted servers whose identity is asked: fleets of them, another process at the same address, and what stands before a
// server and changes what it says. Closed by whoever calls `closeAll` after each test.

import { createServer } from 'node:http';
import type { TokenBackend } from '../../inference/backend.ts';
import { openFleet } from '../../inference/fleet/fleet.ts';
import { tokenRules } from '../../inference/fleet/token-fleet.ts';
import { openSglang } from '../../inference/servers/sglang.ts';
import { openVllm } from '../../inference/servers/vllm.ts';
import { tokenizerLoader } from '../../inference/tokenizer/server-tokenizer.ts';
import { opened, SPREAD } from './fleet-rig.ts';
import { modelServer, type ModelServer } from './model-server.ts';
import { TINY_FOLDER } from './tiny.ts';
import type { Shape } from './toy-engine.ts';

export async function server(shape: Shape): Promise<ModelServer> {
  const one = await modelServer({ modelPath: TINY_FOLDER, ...shape });
  opened.push(one);
  return one;
}

export async function fleetOf(all: readonly ModelServer[]): Promise<TokenBackend> {
  const tokenizers = tokenizerLoader(null);
  const log = () => undefined;
  const open = all[0]!.engine.shape.kind === 'vllm' ? openVllm : openSglang;
  const backend = await openFleet({
    ...SPREAD,
    urls: all.map(({ url }) => url),
    log,
    rules: tokenRules(log),
    circuit: { coolDownMs: 20, longestCoolDownMs: 50 },
    open: (url) => open({ url, apiKey: null, tokenizers, log }),
  });
  opened.push(backend);
  return backend;
}

/** Another process at the same address. */
export async function replaced(old: ModelServer, changes: Partial<Shape>): Promise<ModelServer> {
  await old.close();
  return server({ ...old.engine.shape, ...changes, port: old.port });
}

/** What stands before a server, and changes what it says. */
export async function behind(origin: ModelServer, change: (text: string) => string): Promise<ModelServer> {
  const proxy = createServer((request, response) => {
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
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as { port: number };
  opened.push({ close: () => new Promise((resolve) => void proxy.close(() => resolve())) });
  return { ...origin, url: `http://127.0.0.1:${port}`, port };
}
