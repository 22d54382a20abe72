// An environment behind a URL: the same object as a module's, served over HTTP, and faults on request.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Step = (params: never) => unknown;

export interface Served {
  readonly url: string;
  readonly paths: readonly string[];
  readonly keys: ReadonlySet<string>;
  fault: ((response: ServerResponse) => void) | undefined;
  close(): Promise<void>;
}

/** `reply`: for reward servers, whose address has no methods. */
export async function serveEnvironment(
  environment: Readonly<Record<string, unknown>>,
  fingerprint: string | undefined,
  reply?: (body: unknown) => unknown,
): Promise<Served> {
  const paths: string[] = [];
  const keys = new Set<string>();
  const served = { fault: undefined as Served['fault'] };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const params = JSON.parse(Buffer.concat(parts).toString('utf8')) as never;
    const method = request.url!.split('/').at(-1)!;
    paths.push(request.url!);
    keys.add(String(request.headers['idempotency-key']));
    if (served.fault) return served.fault(response);
    const said = (value: unknown) => void response.end(JSON.stringify(value));
    if (reply) return said(reply(params));
    if (method === 'describe') {
      const { name, version, state, idleSeconds, idempotent } = environment;
      const own = fingerprint === undefined ? {} : { fingerprint };
      return said({
        result: { protocol: 1, name, version, state, begins: true, ends: true, idleSeconds, idempotent, ...own },
      });
    }
    const result = (await (environment[method] as Step)(params)) ?? {};
    if (typeof result === 'object' && 'error' in result) return said(result);
    said({ result, ...(fingerprint === undefined ? {} : { fingerprint }) });
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(served, {
    url: `http://127.0.0.1:${port}/v1`,
    paths,
    keys,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
