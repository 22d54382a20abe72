// The source of messages: the viewer’s server, or what a report embeds. The pages know only this interface.

import { ASKS, type Asks } from '../model/asks.ts';
import type { ErrorMessage } from '../model/messages.ts';
import type { SteerReply, SteerRequest } from '../model/steer.ts';

export interface Source extends Asks {
  readonly kind: 'server' | 'report';
  /** Sends a person's act; null unless the address came with the key to it. */
  readonly steer: ((request: SteerRequest) => Promise<SteerReply>) | null;
  /** The two runs that a report compares; null for others, and for the server, which compares any. */
  readonly compared: readonly [a: string, b: string] | null;
  /** The things that a report leaves out; empty for the server. */
  readonly left: readonly string[];
}

/** `key`: of `everturn view --steer`. */
export function serverSource(key: string | null): Source {
  const asks = Object.keys(ASKS).map((name) => [
    name,
    (...args: unknown[]) => answered(`/api/${name}?args=${encodeURIComponent(JSON.stringify(args))}`),
  ]);
  return {
    ...(Object.fromEntries(asks) as Asks),
    ...{ kind: 'server', left: [], compared: null },
    steer: key === null ? null : (request) => send(key, request),
  };
}

function send(key: string, request: SteerRequest): Promise<SteerReply> {
  return answered('/api/act', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-everturn-steer': key },
    body: JSON.stringify(request),
  });
}

async function answered<T>(path: string, init?: RequestInit): Promise<T> {
  const response = await fetch(path, init).catch(() => {
    throw new Error('The viewer’s server does not answer. Start it again: everturn view.');
  });
  const message = (await response.json()) as T & Partial<ErrorMessage>;
  if (!response.ok) throw new Error(message.error ?? `The server answered ${response.status}.`);
  return message;
}
