// Agents that run elsewhere: one comes by HTTP for a rollout that waits, asks the model at an address of its own, and says how it
// ended. One that falls silent loses its session: the rollout is tried again, and handed to the next that comes.
// Guarantees: a session has one holder, whose secret reaches that rollout alone and is worth nothing after its end.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { idempotencyKey, parseLastWords } from '../domain/agent/index.ts';
import { AgentError } from '../domain/errors/errors.ts';
import type { JsonObject } from '../domain/text/json.ts';
import type { AgentAttempt, AgentEnded } from './agents.ts';
import { type AttemptEndpoint, attemptEndpoint, timeoutError, newKey, type OwnEnd } from './attempt.ts';
import { RefusedRequest } from './dialects/dialect.ts';
import { readRequestBody } from './body.ts';
import { errorBody, hasKey, listenAt, type Listening, sendJson } from './http.ts';

export interface Sessions extends Listening {
  /** Plays an attempt as a program does: resolves when the agent that took it has said its end. */
  play(attempt: AgentAttempt): Promise<AgentEnded>;
}

export interface SessionsOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Any free port, where that one is taken. */
  readonly orAny?: boolean;
  /** The secret of those who may take a session. */
  readonly key: string;
  readonly onListening: (url: string) => void;
}

const TAKE = z.strictObject({
  run: z.string().optional(),
  query: z.string().optional(),
  sample: z.int().optional(),
  /** It loses its session after so many without a call or a heartbeat. */
  silent_seconds: z.number().min(1).max(86_400).default(120),
  /** Time that it waits for a session. */
  wait_seconds: z.number().min(0).max(60).default(0),
});
type Wanted = z.infer<typeof TAKE>;

const END = z.record(z.string(), z.unknown());
/** The agent failed, with these words. */
const FAILED = z.strictObject({ error: z.string() });
const LOOK_MS = 250;

interface Offer {
  readonly id: string;
  readonly key: string;
  readonly attempt: AgentAttempt;
  readonly endpoint: AttemptEndpoint;
  /** Undefined: it waits for an agent. */
  taken?: { readonly at: number; readonly silentMs: number };
  heardAt: number;
  /** Requests that are being answered. */
  open: number;
  end(own: OwnEnd): void;
  fail(error: unknown): void;
}

export async function serveSessions({ host, port, orAny, key, onListening }: SessionsOptions): Promise<Sessions> {
  /** Attempts, in the order in which they were offered. */
  const offers = new Map<string, Offer>();
  const server = await listenAt(answer, { host, port }).catch((error: unknown) => {
    if (!orAny || port === 0) throw error;
    return listenAt(answer, { host });
  });
  onListening(server.url);

  async function answer(message: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const [, top, id, ...rest] = path.split('/');
    const offer = offers.get(id ?? '');
    if (top !== 'sessions') return sendJson(response, 404, errorBody(`there is no ${path}`, 'path'));
    if (id === undefined) return takes(message, response);
    if (!offer?.taken) return sendJson(response, 404, errorBody('this session has ended', 'no-session'));
    offer.heardAt = Date.now();
    offer.open++;
    response.once('close', () => {
      offer.open--;
      offer.heardAt = Date.now();
    });
    if (rest[0] === 'v1') return offer.endpoint.answer(message, response, `/${rest.join('/')}`);
    if (!hasKey(message, offer.key))
      return sendJson(response, 401, errorBody('the key is not that of this session', 'key'));
    if (message.method !== 'POST') return sendJson(response, 405, errorBody(`${path} takes POST`, 'not-post'));
    if (rest[0] === 'heartbeat') return sendJson(response, 200, { ok: true });
    if (rest[0] === 'end') return ends(offer, message, response);
    return sendJson(response, 404, errorBody('a session has /v1, /heartbeat and /end', 'path'));
  }

  async function takes(message: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!hasKey(message, key))
      return sendJson(response, 401, errorBody('the key is not that of these sessions', 'key'));
    if (message.method !== 'POST') return sendJson(response, 405, errorBody('/sessions takes POST', 'not-post'));
    const wanted = await read(TAKE, message, response);
    if (!wanted) return;
    for (const until = Date.now() + wanted.wait_seconds * 1000; !response.destroyed; await sleep(LOOK_MS)) {
      const offer = [...offers.values()].find((one) => !one.taken && isWanted(one, wanted));
      if (offer) {
        offer.heardAt = Date.now();
        offer.taken = { at: offer.heardAt, silentMs: wanted.silent_seconds * 1000 };
        const url = `http://${message.headers.host}/sessions/${offer.id}`;
        return sendJson(response, 200, sessionOf(offer, url));
      }
      if (Date.now() >= until) return void response.writeHead(204).end();
    }
  }

  async function ends(offer: Offer, message: IncomingMessage, response: ServerResponse): Promise<void> {
    const said = await read(END, message, response);
    if (!said) return;
    const own = endOf(said);
    if ('problem' in own) return sendJson(response, 400, errorBody(`the end ${own.problem}`, 'malformed'));
    offer.end(own);
    return sendJson(response, 200, { ok: true });
  }

  return {
    ...server,
    async play(attempt) {
      const [id, secret] = [randomBytes(9).toString('base64url'), newKey()];
      const endpoint = attemptEndpoint(attempt, secret);
      const abort = () => offers.get(id)?.fail(attempt.signal.reason);
      const own = new Promise<OwnEnd>((end, fail) => {
        const common = { id, key: secret, attempt, endpoint, end, fail };
        offers.set(id, { ...common, heardAt: 0, open: 0 });
      });
      const watch = setInterval(() => watched(offers.get(id)!), LOOK_MS);
      attempt.signal.addEventListener('abort', abort, { once: true });
      if (attempt.signal.aborted) abort();
      try {
        return await endpoint.ended(own);
      } finally {
        offers.delete(id);
        clearInterval(watch);
        attempt.signal.removeEventListener('abort', abort);
        endpoint.close();
      }
    },
  };
}

function endOf(said: Readonly<Record<string, unknown>>): OwnEnd | { readonly problem: string } {
  if ('error' in said) {
    const { data, error } = FAILED.safeParse(said);
    return data ? { code: 1, said: {}, tail: data.error } : { problem: inOneLine(error) };
  }
  const words = Object.keys(said).length === 0 ? { said: {} } : parseLastWords(said);
  return 'problem' in words ? words : { code: 0, said: words.said, tail: '' };
}

const isWanted = ({ attempt: { id } }: Offer, { run, query, sample }: Wanted): boolean =>
  (run ?? id.run) === id.run && (query ?? id.query) === id.query && (sample ?? id.sample) === id.sample;

/** All that the agent needs; `key` is the idempotency key of its side effects. */
function sessionOf({ attempt, key, taken }: Offer, url: string): JsonObject {
  const { id, seed, model, row, program } = attempt;
  return {
    ...{ url, base_url: `${url}/v1`, anthropic_base_url: url, api_key: key, model, row, seed, key: idempotencyKey(id) },
    ...{ run: id.run, query: id.query, sample: id.sample, attempt: attempt.attempt },
    ...{ silent_seconds: taken!.silentMs / 1000, time_limit_seconds: program.timeoutSeconds },
  };
}

function watched({ attempt: { program }, taken, open, heardAt, fail }: Offer): void {
  if (!taken) return;
  if (Date.now() - taken.at > program.timeoutSeconds * 1000)
    return fail(timeoutError('The agent of the session', program));
  if (open > 0 || Date.now() - heardAt <= taken.silentMs) return;
  const message = `The agent of the session said nothing for ${taken.silentMs / 1000} s.`;
  fail(new AgentError(message, { reason: 'agent-silent', retryable: true }));
}

const inOneLine = (error: z.ZodError): string => z.prettifyError(error).replaceAll('\n', ' ');

/** The body; undefined where it is refused. */
async function read<T>(schema: z.ZodType<T>, message: IncomingMessage, response: ServerResponse) {
  try {
    return schema.parse(await readRequestBody(message, {}));
  } catch (error) {
    if (error instanceof RefusedRequest)
      return void sendJson(response, error.status, errorBody(error.message, error.reason));
    if (!(error instanceof z.ZodError)) throw error;
    return void sendJson(response, 400, errorBody(`the body ${inOneLine(error)}`, 'malformed'));
  }
}
