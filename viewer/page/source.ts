// The source of messages: the viewer’s server, or what a report embeds. The pages know only this interface.

import type { Asks, ErrorMessage, SearchMessage, SeveralMessage } from '../model/messages.ts';
import { placeOf } from '../model/row.ts';
import type { SteerReply, SteerRequest } from '../model/steer.ts';

export interface Source extends Asks {
  readonly kind: 'server' | 'report';
  /** Finds a text in questions, feedback, answers and found answers; null in a report. */
  readonly search: ((run: string, text: string) => Promise<SearchMessage>) | null;
  /** Several runs in one table; null in a report. */
  readonly several: ((runs: readonly string[]) => Promise<SeveralMessage>) | null;
  /** Sends a person's act; null unless the address came with the key to it. */
  readonly steer: ((request: SteerRequest) => Promise<SteerReply>) | null;
  /** The two runs that a report compares; null for others, and for the server, which compares any. */
  readonly compared: readonly [a: string, b: string] | null;
  /** The things that a report leaves out; empty for the server. */
  readonly left: readonly string[];
}

/** `key`: of `everturn view --steer`. */
export function serverSource(key: string | null): Source {
  return {
    kind: 'server',
    left: [],
    compared: null,
    search: (run, text) => get(of(run, 'search'), { text }),
    several: (runs) => get(`several/${runs.map(encodeURIComponent).join('/')}`),
    steer: key === null ? null : (request) => send(key, request),
    runs: () => get('runs'),
    run: (run) => get(of(run)),
    rows: (run, { filter, sort }, from, count) => get(of(run, 'rows'), { filter, sort, from, count }),
    rollout: (run, place, { filter, sort }) => get(of(run, 'rollout'), { ...placeOf(place), filter, sort }),
    queries: (run, kind, from, count) => get(of(run, 'queries'), { kind, from, count }),
    compare: (a, b, cell) =>
      get(`compare/${encodeURIComponent(a)}/${encodeURIComponent(b)}`, cell === null ? {} : { cell }),
    tokens: (run, place, turn) => get(of(run, 'tokens'), { ...placeOf(place), turn }),
  };
}

const of = (run: string, what = ''): string => `run/${encodeURIComponent(run)}${what === '' ? '' : `/${what}`}`;
type Params = Readonly<Record<string, string | number>>;

async function send(key: string, request: SteerRequest): Promise<SteerReply> {
  return answered<SteerReply>('/api/act', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-everturn-steer': key },
    body: JSON.stringify(request),
  });
}

function get<T>(path: string, params: Params = {}): Promise<T> {
  const search = new URLSearchParams(Object.entries(params).map(([name, value]) => [name, String(value)]));
  return answered<T>(`/api/${path}${search.size > 0 ? `?${search.toString()}` : ''}`);
}

async function answered<T>(path: string, init?: RequestInit): Promise<T> {
  const response = await fetch(path, init).catch(() => {
    throw new Error('The viewer’s server does not answer. Start it again: everturn view.');
  });
  const message = (await response.json()) as T & Partial<ErrorMessage>;
  if (!response.ok) throw new Error(message.error ?? `The server answered ${response.status}.`);
  return message;
}
