// HTTP with one inference server: JSON out, JSON in, over kept connections. Every phase has its time limit, a
// body its size, also after decompression; aborting closes the connection. Never retries, never redirects.

import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { Pool, type Dispatcher } from 'undici';

import { ModelError } from '../domain/errors.ts';
import { badReply, statusError, tooLargeReply, totalTimeout, transportError, type Place } from './http-errors.ts';
import { safeText } from './safe-text.ts';

export interface Timeouts {
  readonly connectMs: number;
  /** Until the first byte: a whole answer is generated before it comes. */
  readonly firstByteMs: number;
  readonly betweenBytesMs: number;
  readonly totalMs: number;
}

/** For an answer of 16,384 tokens from a server that is full. Connections are probed by TCP keep-alive meanwhile. */
export const GENERATION: Timeouts = {
  connectMs: 10_000,
  firstByteMs: 3_600_000,
  betweenBytesMs: 60_000,
  totalMs: 3_600_000,
};
/** For questions that a server answers by itself. A server that starts can take its time for the first. */
export const QUESTION: Timeouts = { connectMs: 10_000, firstByteMs: 30_000, betweenBytesMs: 10_000, totalMs: 30_000 };

export const MAX_BODY_BYTES = 64 * 2 ** 20;

export interface HttpOptions {
  /** http or https, without credentials; may have a path. */
  readonly url: string;
  readonly apiKey: string | null;
  readonly connectMs?: number;
  readonly maxBodyBytes?: number;
}

export interface Ask {
  readonly signal?: AbortSignal;
  readonly timeouts?: Partial<Timeouts>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called when the request is on its way. */
  readonly onSent?: () => void;
}

export interface Http {
  readonly url: string;
  place(path: string): Place;
  /** The parsed body of a 2xx answer; null for an empty one. Everything else is thrown as a ModelError. */
  get(path: string, ask?: Ask): Promise<unknown>;
  post(path: string, body: unknown, ask?: Ask): Promise<unknown>;
  close(): Promise<void>;
}

export function openHttp(options: HttpOptions): Http {
  const { apiKey, connectMs = GENERATION.connectMs, maxBodyBytes = MAX_BODY_BYTES } = options;
  const { origin, pathname } = new URL(options.url);
  const base = pathname.replace(/\/+$/, '');
  const url = `${origin}${base}`;
  // No limit of connections here: who may ask how often is the fleet's business.
  const pool = new Pool(origin, { connections: null, pipelining: 1, connect: { timeout: connectMs } });
  const place = (path: string): Place => ({ url, path, secret: apiKey });

  async function send(method: 'GET' | 'POST', path: string, body: unknown, ask: Ask): Promise<unknown> {
    const here = place(path);
    const times = { ...(method === 'GET' ? QUESTION : GENERATION), ...ask.timeouts };
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
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        headersTimeout: times.firstByteMs,
        bodyTimeout: times.betweenBytesMs,
        signal: stop.signal,
      });
      ask.onSent?.();
      const answer = await answering;
      return await read(answer, here, maxBodyBytes);
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

async function read({ statusCode, headers, body }: Dispatcher.ResponseData, place: Place, limit: number) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > limit) throw tooLargeReply(place, limit); // leaving the loop closes the connection
    chunks.push(chunk);
  }
  const text = (await inflated(Buffer.concat(chunks), headers['content-encoding'], place, limit)).toString('utf8');
  if (statusCode < 200 || statusCode >= 300) throw statusError(statusCode, headers, text, place);
  if (text.trim() === '') return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The parser's own message quotes the body as it is.
    throw badReply(`sent an answer that is no JSON: ${safeText(text.slice(0, 200), place.secret)}`, place);
  }
}

const INFLATE = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
} as const;

/** No server is asked to compress; what stands between may do it all the same. */
async function inflated(bytes: Buffer, encoding: string | string[] | undefined, place: Place, limit: number) {
  const name = String(encoding ?? 'identity').toLowerCase();
  if (name === 'identity' || bytes.length === 0) return bytes;
  if (!(name in INFLATE)) throw badReply(`sent an answer in the encoding ${JSON.stringify(name)}`, place);
  try {
    return await INFLATE[name as keyof typeof INFLATE](bytes, { maxOutputLength: limit });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLargeReply(place, limit);
    throw badReply('sent an answer that cannot be decompressed', place, cause);
  }
}
