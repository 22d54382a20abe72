// Answers of a model server that are small to send and large to read: each is refused at once, by a process that stays
// small. Each is asked for by a process of its own, whose peak of memory is measured; the figures are printed.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bombCheck } from '../../inference/http/json-bomb.ts';
import { FULL } from '../chaos/size.ts';
import { type HttpListener, listenHttp } from '../support/http-listener.ts';

const CLIENT = join(import.meta.dirname, '../../dist/inference/http/http.js');
const MIB = 2 ** 20;
const MOST_MIB = 100;
/** Every machine is busy at times; `npm run test:chaos` measures on one that is not. */
const MOST_MS = FULL ? 1000 : 20_000;

/** In members, as gzip may have them: one would take seconds to make. */
const gigabyte = () => Buffer.concat(Array<Buffer>(64).fill(gzipSync(Buffer.alloc(16 * MIB, 'a'))));
const QUICK = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const endless = (piece: string) => (response?: ServerResponse) => {
  const write = () => {
    while (response && !response.destroyed && response.write(piece)) continue;
  };
  response?.on('drain', write);
  write();
};
/** Made once, and before it is asked for: what is measured is how it is refused. */
const whole = (body: () => string | Buffer, encoding?: string) => {
  let made: string | Buffer | undefined;
  return (response?: ServerResponse) => {
    made ??= body();
    if (encoding) response?.setHeader('content-encoding', encoding);
    response?.end(made);
  };
};
const keys = (n: number) => `{${Array.from({ length: n }, (_, i) => `"k${i}":${i}`).join(',')}}`;

const BOMBS: Readonly<Record<string, (response?: ServerResponse) => unknown>> = {
  'gzip, a gigabyte in one megabyte': whole(gigabyte, 'gzip'),
  'deflate, 200 megabytes of blanks': whole(() => deflateSync(Buffer.alloc(200 * MIB, ' ')), 'deflate'),
  'brotli, 200 megabytes of brackets': whole(() => brotliCompressSync(Buffer.alloc(200 * MIB, '['), QUICK), 'br'),
  'gzip in gzip': whole(() => gzipSync(gigabyte()), 'gzip, gzip'),
  'a text without end': endless(`"${'x'.repeat(64 * 1024)}\\`),
  'chunks without end, of brackets': endless('['.repeat(64 * 1024)),
  'a length that is a lie': (response) => response?.writeHead(200, { 'content-length': 2 ** 40 }).write('{'),
  'two million levels of lists': whole(() => '['.repeat(2e6) + ']'.repeat(2e6)),
  'two million levels of objects': whole(() => `${'{"a":'.repeat(2e6)}1${'}'.repeat(2e6)}`),
  'a million keys': whole(() => keys(1e6)),
  'a million keys, deep inside': whole(() => `{"choices":[{"message":${keys(1e6)}}]}`),
  'twenty million empty lists': whole(() => `[${'[],'.repeat(2e7)}[]]`),
  'a failure that never ends': (response) => endless(keys(4e4))(response?.writeHead(500)),
};

let server: HttpListener;
beforeAll(async () => {
  server = await listenHttp((request, response) => {
    response.on('error', () => undefined);
    const bomb = BOMBS[decodeURIComponent(request.url!.slice(1))];
    if (!bomb) return void response.end('{}');
    bomb(response);
  });
});
afterAll(() => server.close());

const ASK = `
  const { readFileSync } = await import('node:fs');
  const { openHttp } = await import(process.argv[1]);
  const http = openHttp({ url: process.argv[2], apiKey: null });
  await http.get('/nothing').catch(() => undefined);
  const peakKib = () => Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
  const before = peakKib();
  const startedAt = performance.now();
  const reason = await http.post(process.argv[3], {}).then(() => 'taken', (error) => error.reason);
  const tookMs = Math.round(performance.now() - startedAt);
  console.log(JSON.stringify({ reason, tookMs, grewMib: Math.round((peakKib() - before) / 1024) }));
  process.exit(0);`;

/** With every commit one of each kind: packed, endless, deep, wide. */
const NAMES = Object.keys(BOMBS).filter((_, i) => process.env['EVERTURN_TESTS'] === 'all' || i % 2 === 0);

describe('a bomb in a file', () => {
  test.each(NAMES)('is refused: %s', { timeout: 120_000 }, async (name) => {
    expect(existsSync(CLIENT), 'npm run build').toBe(true);
    BOMBS[name]!();
    const args = ['--input-type=module', '-e', ASK, CLIENT, server.url, `/${encodeURIComponent(name)}`];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const asked = JSON.parse(stdout) as { reason: string; tookMs: number; grewMib: number };
    console.log(`${name}: ${asked.reason} after ${asked.tookMs} ms, + ${asked.grewMib} MiB`);
    expect(asked.reason).toMatch(/^(?:reply-too-large|reply-malformed|server-error)$/);
    expect(asked.grewMib).toBeLessThan(MOST_MIB);
    expect(asked.tookMs).toBeLessThan(MOST_MS);
  });

  test('an answer as large as servers give is none: tokens with logprobs, code in its text, deep as they are', () => {
    const tokens = Array.from({ length: 100_000 }, (_, i) => [-0.5, i, `"\\[{${i}`]);
    const large = Buffer.from(
      JSON.stringify({ text: '[{"'.repeat(1e6), meta_info: { output_token_logprobs: tokens } }),
    );
    expect(large.length).toBeGreaterThan(4 * MIB);
    expect(bombCheck()(large)).toBeUndefined();
    expect(bombCheck()(Buffer.from('['.repeat(300_000)))).toContain('deeper');
    expect(bombCheck()(Buffer.from(keys(40_000)))).toContain('keys');
  });

  test('where a text ends is known however a body is cut into pieces', () => {
    const deep = (text: string) => `${JSON.stringify([text])}${'['.repeat(100)}`;
    for (const text of ['', '"', '\\', '\\\\', '\\"', '"\\', '[[["', '\\\\"[[[[']) {
      const body = Buffer.from(deep(text));
      for (let cut = 1; cut <= body.length; cut++) {
        const check = bombCheck();
        const pieces: Buffer[] = [];
        for (let at = 0; at < body.length; at += cut) pieces.push(body.subarray(at, at + cut));
        // The list of one text is closed, then 64 levels are one too many: the first is the body itself.
        const place = pieces.findIndex((piece) => check(piece) !== undefined);
        expect(place, `${text} cut by ${cut}`).toBe(Math.floor((JSON.stringify([text]).length + 63) / cut));
      }
    }
  });
});
