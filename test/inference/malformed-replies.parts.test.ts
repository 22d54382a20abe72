// Replies that are none, made from real ones by a generator. Each is refused with a flaw that says what was wrong, in
// the same words each time, or read as what it is; none opens the server's circuit, and the next answer is taken.

import { deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ModelError } from '../../domain/errors/errors.ts';
import type { Backend } from '../../inference/backend.ts';
import { createBackend } from '../../inference/index.ts';
import { askShortly } from '../contract/backend.ts';
import { modelServer, type Fault, type ModelServer } from '../support/model-server.ts';
import { TINY_FOLDER } from '../support/tiny.ts';

/** A reply without choices is how a gateway passes on that the server behind it failed. */
const BEHIND = 'server-busy';

type Json = Record<string, unknown>;
type Path = readonly (string | number)[];
const SHAPES = [
  { of: 'sglang', kind: 'sglang', needs: ['meta_info', 'finish_reason', 'output_token_logprobs'] },
  { of: 'vllm', kind: 'vllm', needs: ['choices', 'finish_reason', 'token_ids', 'logprobs', 'weight_versions'] },
  { of: 'vllm by completions', kind: 'vllm', scaleOut: false, needs: ['choices', 'finish_reason', 'logprobs'] },
  { of: 'openai', kind: 'openai', needs: ['choices', 'message', 'content'] },
] as const;

/** Bodies that are wrong whatever the protocol. */
function bodies(whole: string): Record<string, Fault> {
  const raw = (body: string | Buffer, headers: Record<string, string> = {}, status = 200): Fault => ({
    act: (_, response) => void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body),
  });
  const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
  return {
    empty: raw(''),
    'status 204': { act: (_, response) => void response.writeHead(204).end() },
    spaces: raw('   \n'),
    null: raw('null'),
    true: raw('true'),
    number: raw('7'),
    string: raw('"fine"'),
    list: raw(`[${whole}]`),
    object: raw('{}'),
    HTML: raw('<!doctype html><html><body>Sign in</body></html>', { 'content-type': 'text/html' }),
    XML: raw('<?xml version="1.0"?><a/>'),
    'plain text': raw('upstream connect error'),
    'event stream': raw(`data: ${whole}\n\ndata: [DONE]\n\n`, { 'content-type': 'text/event-stream' }),
    'cut at the half': raw(whole.slice(0, whole.length >> 1)),
    'cut before the end': raw(whole.slice(0, -1)),
    'one brace': raw('{'),
    'more behind it': raw(`${whole}garbage`),
    twice: raw(whole + whole),
    'JSON lines': raw(`${whole}\n${whole}\n`),
    'single quotes': raw(whole.replaceAll('"', "'")),
    NaN: raw(whole.replace(/-?\d+\.\d+(e-?\d+)?/, 'NaN')),
    comment: raw(`/* ok */${whole}`),
    'no UTF-8': raw(Buffer.concat([Buffer.from(whole.slice(0, -1)), Buffer.from(',"x":"\xff\xfe"}', 'latin1')])),
    'UTF-16': raw(Buffer.from(whole, 'utf16le')),
    'a key twice': raw(whole.replace('{', '{"choices":null,"meta_info":null,')),
    'gzip that is none': raw(whole, { 'content-encoding': 'gzip' }),
    'gzip unnamed': raw(gzipSync(whole)),
    'gzip cut': raw(gzipSync(whole).subarray(0, 40), { 'content-encoding': 'gzip' }),
    'deflate named gzip': raw(deflateSync(whole), { 'content-encoding': 'gzip' }),
    'unknown encoding': raw(whole, { 'content-encoding': 'zstd' }),
    'too deep': raw(deep),
    redirect: raw('', { location: 'http://127.0.0.1:1/' }, 302),
    'status 206': raw(whole.slice(0, 30), {}, 206),
    'status 600': { act: (request) => void request.socket.end('HTTP/1.1 600 What\r\ncontent-length: 0\r\n\r\n') },
    'no HTTP': { act: (request) => void request.socket.end('+OK POP3 ready\r\n') },
    'two lengths': {
      act: (request) => void request.socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}'),
    },
    'status 100': {
      act: (request) => void request.socket.end(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n${whole}`),
    },
    'headers without end': {
      act: (request) => void request.socket.end(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(100_000)}\r\n\r\n${whole}`),
    },
    'broken chunks': {
      act: (request) => void request.socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'),
    },
    'status 101': {
      act: (request) => void request.socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n'),
    },
  };
}

const JUNK: Record<string, unknown> = {
  missing: undefined,
  null: null,
  text: 'x',
  negative: -1,
  'empty list': [],
  'empty object': {},
};

/** Every part of an answer: without it, under another name, and of every other kind. */
function* spoilt(whole: Json): Generator<[name: string, lie: (honest: Json) => unknown]> {
  for (const path of paths(whole)) {
    for (const [what, value] of Object.entries(JUNK))
      yield [`${path.join('.')}: ${what}`, (honest) => put(honest, path, () => value)];
    yield [`${path.join('.')}: in a list`, (honest) => put(honest, path, (value) => [value])];
    const list = at(whole, path);
    if (!Array.isArray(list) || list.length === 0) continue;
    yield [`${path.join('.')}: one too few`, (honest) => put(honest, path, () => list.slice(1))];
    yield [`${path.join('.')}: one too many`, (honest) => put(honest, path, () => [...(list as unknown[]), list[0]])];
  }
}

function paths(value: unknown, here: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [here];
  // Of a list the first and the last element stand for all.
  const keys = Array.isArray(value) ? [...new Set([0, value.length - 1])].filter((i) => i >= 0) : Object.keys(value);
  const inner = keys.flatMap((key) => paths((value as Record<string | number, unknown>)[key], [...here, key]));
  return here.length === 0 ? inner : [here, ...inner];
}

const at = (value: unknown, path: Path): unknown =>
  path.reduce((inner, key) => (inner as Record<string | number, unknown>)[key], value);

function put(whole: Json, path: Path, change: (value: unknown) => unknown): unknown {
  const copy = structuredClone(whole);
  const parent = at(copy, path.slice(0, -1)) as Record<string | number, unknown>;
  parent[path.at(-1)!] = change(parent[path.at(-1)!]);
  return copy;
}

describe.each(SHAPES)('a reply of $of', ({ needs, ...shape }) => {
  let server: ModelServer;
  let backend: Backend;
  let whole: Json;
  const ask = () => askShortly(backend);
  const outcome = async (fault: Fault) => {
    server.fail(fault);
    const got = await ask().then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    );
    server.heal();
    return got;
  };
  beforeAll(async () => {
    server = await modelServer({ modelPath: TINY_FOLDER, ...shape });
    const spec = shape.kind === 'openai' ? `openai:${server.url}/v1#tiny` : `${shape.kind}:${server.url}`;
    backend = await createBackend(spec, { tokenizer: null, log: () => undefined, recheckEvery: 0 });
    await ask();
    const { path, body } = server.seen.at(shape.kind === 'vllm' && 'scaleOut' in shape ? -2 : -1)!;
    const answer = await fetch(`${server.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
    whole = (await answer.json()) as Json;
  });
  afterAll(async () => {
    await backend.close();
    await server.close();
  });

  test('that cannot be read ends by the name of what is wrong, twice the same', async () => {
    const { 'event stream': stream, NaN: none, ...others } = bodies(JSON.stringify(whole));
    // A chat may come in pieces, and with counts that are no numbers.
    const faults = shape.kind === 'openai' ? others : { ...others, 'event stream': stream!, NaN: none! };
    for (const [name, fault] of Object.entries(faults)) {
      const flaws = new Set<string>();
      for (let i = 0; i < 2; i++) {
        const got = await outcome(fault);
        expect(got, name).toHaveProperty('error');
        const error = (got as { error: unknown }).error as ModelError;
        expect(error, name).toBeInstanceOf(ModelError);
        if (error.retryable && error.reason !== BEHIND) expect(error.flaw, `${name}: ${error.message}`).toBeDefined();
        flaws.add(error.flaw ?? error.reason);
      }
      expect(flaws.size, name).toBe(1);
    }
    expect(backend.serverStatus!()[0]).toMatchObject({ state: 'up', url: expect.stringContaining(server.url) });
    expect((await ask()).server).toContain(server.url);
  }, 120_000);

  test('with any part spoilt is refused by name, or gives what the whole one gives', async () => {
    const same = await outcome({ change: () => undefined });
    const result = (same as { result: unknown }).result;
    expect(result).toBeDefined();
    for (const field of needs) expect(JSON.stringify(whole)).toContain(`"${field}"`);
    let refused = 0;
    for (const [name, change] of spoilt(whole)) {
      const got = await outcome({ change });
      if ('result' in got) {
        const reply = got.result;
        // A logprob of -1 is as good as any.
        if ('outputIds' in reply && !/logprob.*negative/.test(name))
          expect(pick(reply), name).toMatchObject(pick(result));
        continue;
      }
      refused++;
      const error = got.error as ModelError;
      expect(error, name).toBeInstanceOf(ModelError);
      if (error.retryable && error.reason !== BEHIND)
        expect(
          error.flaw ?? (error.reason === 'server-aborted' && 'aborted'),
          `${name}: ${error.message}`,
        ).toBeTruthy();
      if (error.flaw) expect(error.flaw.length, name).toBeLessThan(120);
    }
    expect(backend.serverStatus!()[0]!.state).toBe('up');
    expect(refused).toBeGreaterThan(needs.length * Object.keys(JUNK).length * 0.5);
  }, 120_000);
});

const pick = (result: unknown) => {
  const { outputIds, logprobs } = result as { outputIds: unknown; logprobs: unknown };
  return { outputIds, logprobs };
};
