// HTTP with one inference server: JSON out, JSON in, over keep-alive connections. Every phase has a time limit, and a
// body a size limit, also after decompression; aborting closes the connection. Never retries, never redirects.

import { setImmediate as breath } from 'node:timers/promises';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { short } from '../../domain/text/foreign-text.ts';
import { buildConnector, Pool, type Dispatcher } from 'undici';

import { DEFAULT_SETTINGS } from '../../domain/rollout/settings.ts';
import { ModelError } from '../../domain/errors/errors.ts';
import { holdsSecret } from '../../domain/text/secret.ts';
import { guardedConnector, type Lookup } from '../../local/machine/forbidden-address.ts';
import {
  badReply,
  bombReply,
  keyReply,
  statusError,
  tooLargeReply,
  totalTimeout,
  transportError,
  type RequestPlace,
} from './http-errors.ts';
import { bombCheck } from './json-bomb.ts';
import { parseReplyJson, type Together } from './reply-json.ts';

interface Timeouts {
  readonly connectMs: number;
  /** Until the first byte: the server generates the whole answer before it sends any. */
  readonly firstByteMs: number;
  readonly betweenBytesMs: number;
  readonly totalMs: number;
}

/** Enough for an answer of 16,384 tokens from a fully loaded server. TCP keep-alive probes connections meanwhile. */
const GENERATION: Timeouts = {
  connectMs: 10_000,
  firstByteMs: DEFAULT_SETTINGS.requestTimeoutSeconds * 1000,
  betweenBytesMs: 60_000,
  totalMs: DEFAULT_SETTINGS.requestTimeoutSeconds * 1000,
};
/** The limits of requests without generation. A starting server may be slow to answer its first. */
const QUESTION: Timeouts = { connectMs: 10_000, firstByteMs: 30_000, betweenBytesMs: 10_000, totalMs: 30_000 };

/** 700,000 tokens with their logprobs; joining the pieces of a body briefly takes twice as much. */
const MAX_BODY_BYTES = 32 * 2 ** 20;

interface HttpOptions {
  /** http or https, without credentials; may have a path. */
  readonly url: string;
  readonly apiKey: string | null;
  readonly connectMs?: number;
  /** The limit of a whole generation. */
  readonly requestTimeoutMs?: number | undefined;
  readonly maxBodyBytes?: number;
  /** Resolves names; absent: the system's resolver. */
  readonly lookup?: Lookup;
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
  readonly timeouts?: Partial<Timeouts>;
  readonly headers?: Readonly<Record<string, string>>;
  /** What its answer may have beyond the limit of a body. */
  readonly moreBytes?: number;
  /** Called when the request has been sent. */
  readonly onSent?: () => void;
  /** Puts the events of a reply that is a stream of them together; absent: a stream is no answer. */
  readonly events?: Together;
}

export interface Http {
  readonly url: string;
  place(path: string): RequestPlace;
  /** The parsed body of a 2xx answer; null for an empty one. Any other answer throws a ModelError. */
  get(path: string, ask?: RequestOptions): Promise<unknown>;
  post(path: string, body: unknown, ask?: RequestOptions): Promise<unknown>;
  close(): Promise<void>;
}

export function openHttp(options: HttpOptions): Http {
  const { apiKey, connectMs = GENERATION.connectMs, maxBodyBytes = MAX_BODY_BYTES } = options;
  const { requestTimeoutMs: limitMs } = options;
  const generation = limitMs === undefined ? GENERATION : { ...GENERATION, firstByteMs: limitMs, totalMs: limitMs };
  const { origin, pathname } = new URL(options.url);
  const base = pathname.replace(/\/+$/, '');
  const url = `${origin}${base}`;
  const connect = guardedConnector(buildConnector, { timeout: connectMs, lookup: options.lookup });
  // No limit on connections: the fleet limits the requests.
  const pool = new Pool(origin, { connections: null, pipelining: 1, connect });
  const place = (path: string): RequestPlace => ({ url, path, secret: apiKey });

  async function send(method: 'GET' | 'POST', path: string, body: unknown, ask: RequestOptions): Promise<unknown> {
    const here = place(path);
    const times = { ...(method === 'GET' ? QUESTION : generation), ...ask.timeouts };
    ask.signal?.throwIfAborted();
    const stop = new AbortController();
    const passOn = () => stop.abort();
    ask.signal?.addEventListener('abort', passOn, { once: true });
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      stop.abort();
    }, times.totalMs);
    try {
      const text = body === undefined ? undefined : await asText(body);
      const answering = pool.request({
        method,
        path: `${base}${path}`,
        headers: {
          accept: 'application/json',
          'user-agent': 'everturn',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
          ...ask.headers,
        },
        ...(text === undefined ? {} : { body: text }),
        headersTimeout: times.firstByteMs,
        bodyTimeout: times.betweenBytesMs,
        signal: stop.signal,
      });
      ask.onSent?.();
      const answer = await answering;
      return await read(answer, here, maxBodyBytes + (ask.moreBytes ?? 0), ask.events);
    } catch (error) {
      if (ask.signal?.aborted) throw ask.signal.reason;
      if (late) throw totalTimeout(here, times.totalMs);
      throw error instanceof ModelError ? error : transportError(error, here);
    } finally {
      clearTimeout(timer);
      ask.signal?.removeEventListener('abort', passOn);
    }
  }

  return {
    url,
    place,
    get: (path, ask = {}) => send('GET', path, undefined, ask),
    post: (path, body, ask = {}) => send('POST', path, body, ask),
    close: () => pool.destroy(),
  };
}

const LONG_CHARS = 256 * 1024;

/** Serialising a long context takes long, and so does sending it: the event loop runs in between. */
async function asText(body: unknown): Promise<string | Buffer> {
  const text = JSON.stringify(body);
  if (text.length < LONG_CHARS) return text;
  await breath();
  return Buffer.from(text);
}

async function read(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  place: RequestPlace,
  limit: number,
  events: RequestOptions['events'],
) {
  const failed = statusCode < 200 || statusCode >= 300;
  const encoding = headers['content-encoding'];
  const chunks: Buffer[] = [];
  let bytes = 0;
  const check = failed || encoding !== undefined ? () => undefined : bombCheck();
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Leaving the loop closes the connection.
    if (bytes > limit || Number(headers['content-length'] ?? 0) > limit) throw tooLargeReply(place, limit);
    chunks.push(chunk);
    refuseBomb(chunk, check, place);
    if (failed && bytes > LONGEST_COMPLAINT) break;
  }
  const whole = await inflated(Buffer.concat(chunks), encoding, place, limit);
  const text = whole.subarray(0, failed ? LONGEST_COMPLAINT : whole.length).toString('utf8');
  if (failed) throw statusError(statusCode, headers, text, place);
  if (encoding !== undefined) refuseBomb(whole, bombCheck(), place);
  if (place.secret !== null && holdsSecret(text, place.secret)) throw keyReply(place);
  return parseReplyJson(whole, text, place, { headers, events });
}

function refuseBomb(piece: Buffer, check: (piece: Buffer) => string | undefined, place: RequestPlace): void {
  const bomb = check(piece);
  if (bomb !== undefined) throw bombReply(`sent an answer ${bomb}`, place);
}

/** A server's error message is cut to one line, and no more than this is read. */
const LONGEST_COMPLAINT = 64 * 1024;

const INFLATE = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
} as const;

/** JSON is compressed ten to one; a larger ratio is an attack. */
const MOST_INFLATION = 100;
const SMALL_BYTES = 8 * 2 ** 20;

/** Requests ask for no compression, but a proxy may compress anyway. */
async function inflated(bytes: Buffer, encoding: string | string[] | undefined, place: RequestPlace, limit: number) {
  const name = String(encoding ?? 'identity').toLowerCase();
  if (name === 'identity' || bytes.length === 0) return bytes;
  if (!Object.hasOwn(INFLATE, name))
    throw badReply(`sent an answer in the encoding ${short(name, 500)}`, place, { flaw: 'an unknown encoding' });
  const maxOutputLength = Math.min(limit, Math.max(SMALL_BYTES, MOST_INFLATION * bytes.length));
  try {
    return await INFLATE[name as keyof typeof INFLATE](bytes, { maxOutputLength });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLargeReply(place, limit);
    throw badReply('sent an answer that cannot be decompressed', place, { cause });
  }
}
