// The only access to the web UI of the local service. Temporal's UI accepts any host name and any user; this gate admits
// only requests of this user's own pages: the Host is the gate's own (DNS rebinding sends another name), no foreign page
// causes the request, and, where the kernel reports it, the connection belongs to this user.

import { once } from 'node:events';
import { createServer, request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { doubledHeader } from '../../domain/text/doubled-header.ts';
import { isOtherUser } from '../machine/own-user.ts';
import { LOOPBACK } from '../machine/ports.ts';

export interface UiGate {
  close(): void;
}

/** The address of the UI itself. */
export interface Upstream {
  readonly host: string;
  readonly port: number;
}

export async function openUiGate(port: number, upstream: Upstream): Promise<UiGate> {
  const hosts = new Set(['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`));
  const server = createServer((request, response) => {
    request.on('error', () => response.destroy());
    void isOtherUser(request.socket).then((stranger) => {
      const problem = stranger ? 'This UI belongs to another user of this machine.' : foreign(request, hosts);
      if (problem === undefined) pass(request, response, upstream);
      else refuse(request, response, problem);
    });
  });
  // No other protocol is supported.
  server.on('upgrade', (_request, socket) => socket.destroy());
  server.on('connect', (_request, socket) => socket.destroy());
  server.listen({ host: LOOPBACK, port, exclusive: true });
  await once(server, 'listening');
  server.unref();
  return {
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Why a request is rejected; undefined if it is admitted. */
function foreign(request: IncomingMessage, hosts: ReadonlySet<string>): string | undefined {
  const { headers, method, url } = request;
  const doubled = doubledHeader(request);
  if (doubled !== undefined) return `The request gives the header ${doubled} twice.`;
  if (!hosts.has((headers.host ?? '').toLowerCase()) || !url?.startsWith('/')) {
    return `This UI answers as ${[...hosts].join(', ')} only, and the request names another host.`;
  }
  const { origin } = headers;
  if (origin !== undefined && !(origin.startsWith('http://') && hosts.has(origin.slice('http://'.length))))
    return 'Another page asks here.';
  // Links from other pages are allowed; they can read and change nothing.
  const isLink =
    method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  const site = headers['sec-fetch-site'] ?? 'none';
  return site === 'none' || site === 'same-origin' || isLink ? undefined : 'Another page asks here.';
}

function refuse(request: IncomingMessage, response: ServerResponse, problem: string): void {
  request.resume();
  response.writeHead(403, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
  response.end(`${problem} See docs/security.md.\n`);
}

function pass(request: IncomingMessage, response: ServerResponse, { host, port }: Upstream): void {
  const { connection: _, ...headers } = request.headers;
  const { method, url: path } = request;
  const asked = ask({ host, port, method, path, headers }, (reply) => {
    const { connection: _c, ...said } = reply.headers;
    response.writeHead(reply.statusCode ?? 502, { ...said, 'x-frame-options': 'DENY' });
    reply.on('error', () => response.destroy()).pipe(response);
  });
  asked.on('error', () => {
    if (response.headersSent) return response.destroy();
    response.writeHead(502, { 'content-type': 'text/plain; charset=utf-8' });
    response.end('The UI does not answer.\n');
  });
  response.on('close', () => asked.destroy());
  request.pipe(asked);
}
