// A small S3 server in this process, for what a real one seldom does: errors by name, pages of few keys, 503, answers cut
// after the write, silence. It checks the hash of a body and the name of the key, not signatures; versitygw does
// (test/bucket).

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface S3Call {
  readonly method: string;
  readonly bucket: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
}

/** `cut`: after the work is done; `silent`: the same, without any answer; a number with a code: refused, nothing done. */
export type S3Fault = 'cut' | 'silent' | readonly [status: number, code: string, extra?: string] | undefined;

export interface S3Server {
  readonly url: string;
  readonly objects: Map<string, { readonly body: Buffer; readonly modified: Date }>;
  readonly calls: S3Call[];
  fault: (call: S3Call) => S3Fault;
  /**
   * Whether it honours If-None-Match: *; `racy`: only where the object is there before the call began; `narrow`: the same
   * with calls of 20 ms, and each connection takes 60 ms until it is open.
   */
  conditional: 'yes' | 'no' | 'racy' | 'narrow';
  close(): Promise<void>;
}

const BUCKET = 'bucket';

export async function openS3Server({ pageKeys = 1000, accessKeyId = 'test' } = {}): Promise<S3Server> {
  const objects: S3Server['objects'] = new Map();
  const calls: S3Call[] = [];
  const silent = new Set<ServerResponse>();

  const writers = new Map<string, () => void>();
  /** Until another writer of the key has begun too; one that is alone goes on. */
  async function another(key: string): Promise<void> {
    writers.get(key)?.();
    await new Promise<void>((done) => {
      writers.set(key, done);
      setTimeout(done, 200);
    });
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://s3');
    const [bucket = '', ...parts] = url.pathname.slice(1).split('/').map(decodeURIComponent);
    const call: S3Call = {
      method: request.method ?? '',
      bucket,
      key: parts.join('/'),
      query: url.searchParams,
      headers: request.headers,
    };
    calls.push(call);
    const wasThere = objects.has(call.key);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const fault = server.fault(call);
    const refuse = (status: number, code: string, extra = '') => {
      const xml = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code} &amp; more</Message>${extra}</Error>`;
      response.writeHead(status, { 'content-type': 'application/xml' });
      response.end(call.method === 'HEAD' ? undefined : xml);
    };
    if (fault !== undefined && typeof fault !== 'string') return refuse(...fault);
    const auth = request.headers.authorization ?? '';
    if (!auth.includes(`Credential=${accessKeyId}/`)) return refuse(403, 'InvalidAccessKeyId');
    if (bucket !== BUCKET) return refuse(404, 'NoSuchBucket');
    if (request.headers['x-amz-content-sha256'] !== createHash('sha256').update(body).digest('hex'))
      return refuse(400, 'XAmzContentSHA256Mismatch');
    if (server.conditional === 'racy' && call.method === 'PUT') await another(call.key);
    const isNarrow = server.conditional === 'narrow';
    if (isNarrow && call.method === 'PUT') await sleep(20);
    const answer = carryOut(call, body, server.conditional === 'racy' || isNarrow ? wasThere : objects.has(call.key));
    if (fault === 'cut') return void request.socket.destroy();
    if (fault === 'silent') return void silent.add(response);
    const { status, headers = {}, content = '' } = answer;
    if (status >= 400) return refuse(status, content.toString());
    response.writeHead(status, { ...headers, server: 'toy-s3' });
    response.end(call.method === 'HEAD' ? undefined : content);
  }

  interface Answer {
    readonly status: number;
    readonly headers?: Record<string, string | number>;
    readonly content?: string | Buffer;
  }

  function carryOut({ method, key, query, headers }: S3Call, body: Buffer, isThere: boolean): Answer {
    if (method === 'GET' && key === '') return { status: 200, content: listing(query) };
    const found = objects.get(key);
    if (method === 'PUT') {
      const onlyNew = headers['if-none-match'] === '*' || headers['x-goog-if-generation-match'] === '0';
      if (onlyNew && isThere && server.conditional !== 'no') return { status: 412, content: 'PreconditionFailed' };
      objects.set(key, { body, modified: new Date() });
      return { status: 200, headers: { etag: etagOf(body) } };
    }
    if (method === 'DELETE') {
      objects.delete(key);
      return { status: 204 };
    }
    if (!found) return { status: 404, content: 'NoSuchKey' };
    const facts = { etag: etagOf(found.body), 'last-modified': found.modified.toUTCString() };
    const range = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '');
    if (!range) return { status: 200, headers: { ...facts, 'content-length': found.body.length }, content: found.body };
    if (Number(range[1]) >= found.body.length) return { status: 416, content: 'InvalidRange' };
    const part = found.body.subarray(Number(range[1]), Number(range[2]) + 1);
    return { status: 206, headers: { ...facts, 'content-length': part.length }, content: part };
  }

  function listing(query: URLSearchParams): string {
    const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter') ?? ''];
    const after = query.get('continuation-token') ?? '';
    const names = new Set<string>();
    for (const key of [...objects.keys()].filter((one) => one.startsWith(prefix))) {
      const at = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
      names.add(at < 0 ? key : key.slice(0, at + 1));
    }
    const all = [...names]
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .filter((name) => name > after);
    const page = all.slice(0, Math.min(pageKeys, Number(query.get('max-keys') ?? pageKeys)));
    const cut = all.length > page.length;
    const items = page.map((name) => {
      const object = objects.get(name);
      if (!object || (delimiter !== '' && name.endsWith(delimiter)))
        return `<CommonPrefixes><Prefix>${escaped(name)}</Prefix></CommonPrefixes>`;
      return `<Contents><Key>${escaped(name)}</Key><LastModified>${object.modified.toISOString()}</LastModified><ETag>${escaped(etagOf(object.body))}</ETag><Size>${object.body.length}</Size></Contents>`;
    });
    const next = cut ? `<NextContinuationToken>${escaped(page.at(-1)!)}</NextContinuationToken>` : '';
    return `<?xml version="1.0"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>${cut}</IsTruncated>${next}${items.join('')}</ListBucketResult>\n`;
  }

  const connected = new WeakSet<Socket>();
  const http = createServer((request, response) => {
    const isNew = server.conditional === 'narrow' && !connected.has(request.socket);
    connected.add(request.socket);
    // A client that gives up in the middle of its body is no fault of this server.
    setTimeout(() => void serve(request, response).catch(() => response.destroy()), isNew ? 60 : 0);
  });
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  const server: S3Server = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    objects,
    calls,
    fault: () => undefined,
    conditional: 'yes',
    async close() {
      http.closeAllConnections();
      await new Promise((done) => http.close(done));
    },
  };
  return server;
}

const etagOf = (body: Buffer): string => `"${createHash('md5').update(body).digest('hex')}"`;
const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** What a user sets for such a server. */
export const bucketEnvironment = (url: string, accessKeyId = 'test'): Record<string, string> => ({
  AWS_ACCESS_KEY_ID: accessKeyId,
  AWS_SECRET_ACCESS_KEY: 'testsecret',
  AWS_REGION: 'us-east-1',
  AWS_ENDPOINT_URL: url,
});

export { useEnvironment as useBuckets } from './process-environment.ts';
