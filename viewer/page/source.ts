// The source of messages: the viewer’s server, or what a report embeds. The pages know only this interface.

import { useEffect, useState } from 'preact/hooks';
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

export interface Asked<T> {
  readonly message: T | undefined;
  readonly error: string | undefined;
  /** The key of `message`: another one while the next is on its way. */
  readonly of: string | undefined;
}

/** `again`: milliseconds until it is asked for again, by the last message; 0 for never. */
export function useMessage<T>(key: string, ask: () => Promise<T>, again: (message: T) => number = () => 0): Asked<T> {
  const [asked, setAsked] = useState<Asked<T>>({ message: undefined, error: undefined, of: undefined });
  useEffect(() => {
    let over = false;
    let timer = 0;
    const later = (ms: number) => {
      if (ms > 0 && !over) timer = setTimeout(() => (document.hidden ? later(ms) : void next()), ms);
    };
    const next = async () => {
      try {
        const message = await ask();
        if (over) return;
        setAsked({ message, error: undefined, of: key });
        later(again(message));
      } catch (error) {
        if (over) return;
        const said = error instanceof Error ? error.message : String(error);
        setAsked((before) => ({ message: before.of === key ? before.message : undefined, error: said, of: key }));
        later(RETRY_MS);
      }
    };
    void next();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [key]);
  return asked;
}

const RETRY_MS = 3_000;
