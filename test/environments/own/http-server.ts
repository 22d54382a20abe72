// An environment behind a URL: the same object as a module's, served over HTTP, and faults on request.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { listenHttp } from '../../support/http-listener.ts';

type Step = (params: never) => unknown;

export interface Served {
  readonly url: string;
  readonly paths: readonly string[];
  readonly keys: ReadonlySet<string>;
  fault: ((response: ServerResponse) => void) | undefined;
  close(): void;
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
  const { url, close } = await listenHttp((request, response) => {
    answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  return Object.assign(served, {
    url: `${url}/v1`,
    paths,
    keys,
    close,
  });
}
