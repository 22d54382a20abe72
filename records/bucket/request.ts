// One request to a bucket's server: signed (aws4fetch), with a time limit, and repeated after an answer that says nothing
// about the request (503, a cut connection, silence) for a bounded time. Any other answer is the caller's.

import { setTimeout as sleep } from 'node:timers/promises';
import { createHash } from 'node:crypto';
import type { Agent } from 'undici';
import type { BucketPlace } from '../../domain/run/bucket-place.ts';
import { guardedConnector } from '../../local/machine/forbidden-address.ts';
import { awayFrom, refusedBy } from './problems.ts';
import { type BucketSettings, bucketUrl } from './settings.ts';
import { parseError } from './xml.ts';

interface BucketRequest {
  /** For errors: "read", "write". */
  readonly action: string;
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  readonly place: BucketPlace;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly upload?: Upload;
  /** Status codes, beside 2xx, that are an answer. */
  readonly expected?: readonly number[];
}

export interface BucketAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  /** An earlier attempt was not answered: the server may have carried it out. */
  readonly unsure: boolean;
}

export interface RequestLimits {
  /** From the first attempt on, no attempt begins after this. */
  readonly totalMs: number;
  /** Without an answer, for an attempt with a small body. */
  readonly silenceMs: number;
}

const DEFAULT_LIMITS: RequestLimits = { totalMs: 25_000, silenceMs: 8_000 };
/** A slower upload counts as silence. */
const BYTES_PER_MS = 256;
const PAUSE_MS = { first: 50, most: 2_000 };
const CONNECTIONS = 48;
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

const PASSING = new Set([408, 429, 500, 502, 503, 504]);
/** 409: another request for this key is in progress. 400: the server did not get the whole body in time. */
const PASSING_CODES = new Set(['ConditionalRequestConflict', 'OperationAborted', 'RequestTimeout', 'SlowDown']);

export type Send = (request: BucketRequest) => Promise<BucketAnswer>;

/** Loaded with the first request: the other commands need neither. */
async function load() {
  const [{ AwsV4Signer }, undici] = await Promise.all([import('aws4fetch'), import('undici')]);
  return { AwsV4Signer, undici };
}
let loaded: ReturnType<typeof load> | undefined;

export function openSender(settings: BucketSettings, limits: RequestLimits = DEFAULT_LIMITS): Send {
  let agent: Agent | undefined;
  const signingKeys = new Map<string, ArrayBuffer>();

  async function attempt(request: BucketRequest): Promise<Omit<BucketAnswer, 'unsure'>> {
    const { AwsV4Signer, undici } = await (loaded ??= load());
    const connect = guardedConnector(undici.buildConnector, { timeout: limits.silenceMs });
    agent ??= new undici.Agent({ connections: CONNECTIONS, connect });
    const { place, method, query = {}, headers = {}, upload } = request;
    const url = new URL(`${bucketUrl(settings, place.bucket)}/${place.key.split('/').map(encoded).join('/')}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const { accessKeyId, secretAccessKey, sessionToken, region } = settings;
    // A signing key is valid for one day, so the map stays small.
    if (signingKeys.size > 8) signingKeys.clear();
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers: { ...headers, 'x-amz-content-sha256': upload?.sha256 ?? EMPTY_SHA256 },
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === undefined ? {} : { sessionToken }),
      service: 's3',
      region,
      cache: signingKeys,
    });
    const signed = await signer.sign();
    const answer = await undici.request(signed.url, {
      method,
      headers: {
        ...Object.fromEntries(signed.headers as unknown as Iterable<[string, string]>),
        ...(upload ? { 'content-length': String(upload.bytes) } : {}),
      },
      body: (upload?.open() ?? null) as Buffer | null,
      dispatcher: agent,
      headersTimeout: limits.silenceMs + (upload?.bytes ?? 0) / BYTES_PER_MS,
      bodyTimeout: limits.silenceMs,
    });
    const body = Buffer.from(await answer.body.arrayBuffer());
    const named = Object.entries(answer.headers).map(([name, value]) => [name, String(value)] as const);
    const length = Number(answer.headers['content-length'] ?? body.length);
    if (method !== 'HEAD' && length !== body.length) throw new Error('the answer was cut');
    return { status: answer.statusCode, headers: Object.fromEntries(named), body };
  }

  return async (request) => {
    const { action, place, expected = [] } = request;
    const begun = performance.now();
    let unsure = false;
    for (let pause = PAUSE_MS.first; ; pause = Math.min(PAUSE_MS.most, 2 * pause)) {
      let last: unknown;
      try {
        const answer = await attempt(request);
        const { status, headers, body } = answer;
        if ((status >= 200 && status < 300) || expected.includes(status)) return { ...answer, unsure };
        const text = body.subarray(0, 64 * 1024).toString();
        const { code } = parseError(text);
        if (!PASSING.has(status) && !PASSING_CODES.has(code)) {
          const { date, server, location, 'x-amz-bucket-region': region } = headers;
          throw refusedBy(action, place, settings, { status, date, server, region, location, body: text });
        }
        last = new Error(`${status} ${code}`.trim());
      } catch (error) {
        if (!isPassing(error)) throw error;
        last = error;
      }
      unsure = true;
      const spent = performance.now() - begun;
      // Half of the delay is random: workers that wait for one server do not all retry at the same time.
      const rest = pause * (0.5 + Math.random() / 2);
      if (spent + rest > limits.totalMs)
        throw awayFrom(action, place, settings.endpoint ?? 'Amazon S3', last, Math.round(spent / 1000));
      await sleep(rest);
    }
  };
}

/** An error of a connection, not one of ours. */
const isPassing = (error: unknown): boolean =>
  error instanceof Error && !('boundary' in error) && !(error instanceof TypeError);

/** As the signature encodes it. */
const encoded = (part: string): string =>
  encodeURIComponent(part).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

export interface Upload {
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
  /** Called for each attempt. */
  readonly open: () => Buffer | NodeJS.ReadableStream;
}

export function uploadOf(content: string | Uint8Array): Upload {
  const bytes = Buffer.from(content as Uint8Array);
  return { bytes: bytes.length, sha256: sha256Of(bytes), open: () => bytes };
}

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
