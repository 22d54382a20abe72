// What a bad inference server does instead of answering: eight kinds, each of which another try may mend, done on the socket as a
// real one would do it.

import type { Server, ServerResponse } from 'node:http';

export const PASSING = ['refused', 'reset', 'hang', 'drip', 'busy', 'error', 'cut', 'hollow'] as const;
export type FaultKind = (typeof PASSING)[number];

export interface FaultPlace {
  readonly response: ServerResponse;
  readonly server: Server;
  readonly port: number;
  /** The whole answer that would have been given. */
  readonly answer: string;
  readonly retryAfterSeconds: number;
  /** In [0, 1), of this fault alone. */
  readonly chance: number;
}

export const REFUSED_MS = 30;
const HOLLOW = ['', 'null', '{}', '[]', '{"choices":[]}', '{"choices":null}', '{"meta_info":null}'];

export function commit(kind: FaultKind, place: FaultPlace): void {
  const { response, answer, chance } = place;
  const send = (status: number, body: string, headers: Record<string, string> = {}) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body);
  };
  switch (kind) {
    case 'refused':
      refuse(place);
      return;
    case 'reset':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(answer.length) });
      response.write(answer.slice(0, Math.floor(answer.length * chance)), () => response.socket?.resetAndDestroy());
      return;
    case 'hang':
      return;
    case 'drip':
      drip(response, answer);
      return;
    case 'busy':
      return send(429, '{"error":{"message":"slow down"}}', { 'retry-after': String(place.retryAfterSeconds) });
    case 'error':
      return send([500, 502, 503][Math.floor(chance * 3)]!, '<html>upstream</html>');
    case 'cut':
      return send(200, answer.slice(0, 1 + Math.floor((answer.length - 2) * chance)));
    case 'hollow':
      return send(200, HOLLOW[Math.floor(chance * HOLLOW.length)]!);
  }
}

/** Nobody listens for a moment: who asks anew finds the port closed. */
function refuse({ response, server, port }: FaultPlace): void {
  response.socket?.resetAndDestroy();
  if (!server.listening) return;
  server.close();
  setTimeout(() => !server.listening && server.listen(port, '127.0.0.1'), REFUSED_MS);
}

function drip(response: ServerResponse, answer: string): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  let at = 0;
  const timer = setInterval(() => {
    if (response.destroyed || at >= answer.length) return clearInterval(timer);
    response.write(answer[at++]!);
  }, 1000);
}
