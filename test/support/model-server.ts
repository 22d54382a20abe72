// A scripted inference server that speaks as SGLang, vLLM or OpenAI's chat does; what it says has the shape of what
// real ones said (test/fixtures/servers). Faults are put into it one by one. Loopback only.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { openai } from './toy-chat.ts';
import { toyEngine, type Engine, type Shape } from './toy-engine.ts';
import { sglang } from './toy-sglang.ts';
import { vllm } from './toy-vllm.ts';
import type { Reply } from './toy-wire.ts';

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown> & { readonly sampling_params?: Record<string, unknown> };
}

/** Instead of the next answer to a generation. */
export type Fault =
  | Reply
  /** A lie: the honest answer, changed or replaced. */
  | { readonly change: (whole: Record<string, unknown>) => unknown }
  | { readonly act: (request: IncomingMessage, response: ServerResponse) => void };

export interface ModelServer {
  readonly url: string;
  readonly port: number;
  readonly seen: Seen[];
  /** Runs in progress. */
  readonly running: () => number;
  /** Runs at once, at most, of clients that name their requests. */
  readonly peak: () => number;
  /** Runs whose client went away or that were aborted. */
  readonly aborted: string[];
  readonly engine: Engine;
  /** Connections that were ever made. */
  readonly connections: () => number;
  /** Takes requests, and answers none. */
  silent: boolean;
  /** Awaited before a request has its effect, and before its answer is sent. */
  hold: ((path: string, when: 'before' | 'after') => Promise<void>) | null;
  /** What is answered instead, to a question of any kind; null: what the model says. */
  instead: ((path: string, body: Seen['body']) => Reply | null) | null;
  fail(...faults: Fault[]): void;
  /** Faults that nobody met yet are taken back. */
  heal(): void;
  close(): Promise<void>;
}

export async function modelServer(given: Shape): Promise<ModelServer> {
  const { port: wantedPort = 0, apiKey, ...rest } = given;
  const seen: Seen[] = [];
  const faults: Fault[] = [];
  const engine = toyEngine(rest);
  const answer = { sglang, vllm, openai }[given.kind](engine);
  const sockets = new Set<Socket>();
  let connections = 0;
  // Node's 5 s of silence may pass on a busy machine between two requests, and end a connection as one begins.
  const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    void respond(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  server.on('connection', (socket) => {
    connections++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await textOf(request);
    const { method = 'GET', url = '/', headers } = request;
    let body: unknown = null;
    let broken = false;
    try {
      body = text === '' ? null : (JSON.parse(text) as unknown);
    } catch {
      broken = true;
    }
    if (self.silent) return;
    seen.push({ method, path: url, headers, body: (body ?? {}) as Seen['body'] });
    if (apiKey !== undefined && headers.authorization !== `Bearer ${apiKey}`) {
      return send(response, { status: 401, body: { error: `Unauthorized: ${headers.authorization ?? 'no key'}` } });
    }
    const generating = /generate|completions/.test(url) && !isRecheck((body ?? {}) as Seen['body']);
    const fault = generating ? faults.shift() : undefined;
    if (fault && 'act' in fault) return fault.act(request, response);
    if (fault && !('change' in fault)) return send(response, fault);
    await self.hold?.(url, 'before');
    const refusal = self.instead?.(url, (body ?? {}) as Seen['body']);
    if (refusal) return send(response, refusal);
    const reply = await answer({ method, path: url, text, body, broken, gone: () => response.destroyed });
    const lie = await fault?.change(reply.body as Record<string, unknown>);
    await self.hold?.(url, 'after');
    send(response, lie === undefined ? reply : { ...reply, body: lie });
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(wantedPort, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const self: ModelServer = {
    silent: false,
    hold: null,
    instead: null,
    url: `http://127.0.0.1:${port}`,
    port,
    seen,
    running: engine.running,
    peak: engine.peak,
    aborted: engine.aborted,
    engine,
    connections: () => connections,
    fail: (...more) => void faults.push(...more),
    heal: () => void faults.splice(0),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return self;
}

/** An answer given as a context: a question about its logprobs, and no generation. */
function isRecheck(body: Seen['body']): boolean {
  const params = body.sampling_params ?? body;
  return Number(body['logprob_start_len']) > 0 || (params['prompt_logprobs'] === 0 && params['logprobs'] === 1);
}

function send(response: ServerResponse, { status, body, headers = {} }: Reply): void {
  if (response.destroyed) return;
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(text);
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
