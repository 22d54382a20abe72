// The probe of a tokenizer with 150,000 tokens: every token that a text can hold is in it, so that an exchange of any two
// of them is seen; and it is made, sent and compared within seconds.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identityOf, probeHash } from '../../inference/fleet/identity.ts';
import type { Http } from '../../inference/http/http.ts';
import { loadTokenizer, type ModelTokenizer } from '../../inference/tokenizer/tokenizer.ts';
import { TINY_FOLDER } from '../support/tiny.ts';

const TOKENS = 150_000;
const folder = mkdtempSync(join(tmpdir(), 'everturn-vocabulary-'));
let tokenizer: ModelTokenizer;

interface Json {
  model: { vocab: Record<string, number>; merges: [string, string][] };
}

/** The shipped tokenizer with merges of two and three letters, until it has so many tokens. */
function enlarged(): string {
  const json = JSON.parse(readFileSync(join(TINY_FOLDER, 'tokenizer.json'), 'utf8')) as Json;
  const { vocab, merges } = json.model;
  const letters = Object.keys(vocab).filter((token) => /^[A-Za-z]$/.test(token));
  const seen = new Set(Object.keys(vocab));
  const add = (left: string, right: string) => {
    if (seen.size >= TOKENS || seen.has(left + right)) return;
    vocab[left + right] = seen.size;
    seen.add(left + right);
    merges.push([left, right]);
  };
  const pairs = letters.flatMap((a) => letters.map((b) => [a, b] as const));
  for (const [a, b] of pairs) add(a, b);
  for (const [a, b] of pairs) for (const c of letters) add(a + b, c);
  for (const [a, b] of pairs) for (const [c, d] of pairs) add(a + b, c + d);
  return JSON.stringify(json);
}

beforeAll(async () => {
  cpSync(TINY_FOLDER, folder, { recursive: true, filter: (name) => !/onnx|safetensors/.test(name) });
  writeFileSync(join(folder, 'tokenizer.json'), enlarged());
  tokenizer = await loadTokenizer(folder);
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true }));

/** A server whose ids of a text go through `swap`. */
function server(swap: (id: number) => number) {
  const seen = new Set<number>();
  let posts = 0;
  const http = {
    url: 'http://a',
    place: (path: string) => ({ url: 'http://a', path, secret: null }),
    async post(_: string, { prompt }: { prompt: string }) {
      posts++;
      const tokens = await tokenizer.encodeRendered(prompt);
      for (const id of tokens) seen.add(id);
      return { tokens: tokens.map(swap) };
    },
  } as unknown as Http;
  const identify = () =>
    identityOf({
      http,
      name: 'big',
      served: { tokenizer, vocabSize: tokenizer.size, folder, ends: () => false },
      contextLength: 4096,
      canary: async () => null,
    });
  return { identify, seen, posts: () => posts };
}

describe('the probe of a large vocabulary', () => {
  test('holds every token that a text gives by itself', async () => {
    expect(tokenizer.size).toBe(TOKENS);
    const honest = server((id) => id);
    const began = performance.now();
    const { probe } = await honest.identify();
    expect(performance.now() - began).toBeLessThan(60_000);
    expect(probe).toBe(await probeHash(tokenizer));
    expect(honest.posts()).toBeLessThan(100);
    const ids = Array.from({ length: TOKENS }, (_, id) => id);
    const texts = await tokenizer.decodeEach(ids);
    const alone = await tokenizer.encodeRendered(texts.filter((text) => !text.includes('\uFFFD')).join('\n'));
    const missing = alone.filter((id) => !honest.seen.has(id));
    expect(missing).toEqual([]);
    // Bytes that are parts of characters, but for those that UTF-8 does not use.
    const bytes = new Set(texts.flatMap((text, id) => (text === '\uFFFD' ? [id] : [])));
    expect([...bytes].filter((id) => !honest.seen.has(id)).length).toBeLessThanOrEqual(13);
    // Merges hide the other tokens of this vocabulary behind these: no text gives them.
    expect(honest.seen.size).toBeGreaterThan(TOKENS / 2);
  }, 120_000);
});
