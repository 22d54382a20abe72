// A tokenizer from a hub: a server of files on loopback. The hub itself is not asked.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { tokenizerFromHub } from '../../inference/tokenizer/hub.ts';
import { listenHttp } from '../support/http-listener.ts';

const FILES: Readonly<Record<string, string>> = {
  'tokenizer.json': '{"t":1}',
  'tokenizer_config.json': '{"c":1}',
  'chat_template.jinja': '{{ 1 }}',
  'generation_config.json': '{"eos_token_id":2}',
};

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'everturn-hub-'));
  vi.stubEnv('EVERTURN_MODEL_CACHE', cache);
  vi.stubEnv('HF_TOKEN', 'hf_mine');
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(cache, { recursive: true, force: true });
});

/** `broken`: files that are cut off in the middle. */
async function hub(broken: ReadonlySet<string> = new Set(), files = FILES) {
  const asked: string[] = [];
  const { url, close } = await listenHttp((request, reply) => {
    const file = request.url!.replace('/maker/model/resolve/main/', '');
    asked.push(`${file} ${request.headers.authorization}`);
    const text = files[file];
    if (text === undefined) return void reply.writeHead(404).end('no such file');
    reply.writeHead(200, { 'content-length': text.length });
    if (!broken.has(file)) return void reply.end(text);
    reply.write(text.slice(0, 3), () => reply.destroy());
  });
  onTestFinished(close);
  return { url, asked };
}

describe('a tokenizer from the hub', () => {
  test('is fetched once, with its template and the facts of its model, and read from the cache afterwards', async () => {
    const { url, asked } = await hub();
    const folder = await tokenizerFromHub('maker/model', url);
    expect(folder).toBe(join(cache, 'maker/model'));
    const found = readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]);
    expect(Object.fromEntries(found)).toEqual(FILES);
    expect(asked).toContain('tokenizer.json Bearer hf_mine');
    const before = asked.length;
    expect(await tokenizerFromHub('maker/model', url)).toBe(folder);
    expect(asked).toHaveLength(before);
  });

  test('is not asked for with a token that no header can hold', async () => {
    vi.stubEnv('HF_TOKEN', 'hf_mine€');
    const { url, asked } = await hub();
    const refused = { reason: 'no-api-key', message: expect.stringContaining('HF_TOKEN cannot be a key') };
    await expect(tokenizerFromHub('maker/model', url)).rejects.toMatchObject(refused);
    expect(asked).toEqual([]);
  });

  test('that breaks off leaves no half file, and is fetched again', async () => {
    const cut = await hub(new Set(['tokenizer.json']));
    await expect(tokenizerFromHub('maker/model', cut.url)).rejects.toMatchObject({ reason: 'model-not-found' });
    expect(readdirSync(join(cache, 'maker/model'))).not.toContain('tokenizer.json');
    const whole = await hub();
    const folder = await tokenizerFromHub('maker/model', whole.url);
    expect(readFileSync(join(folder, 'tokenizer.json'), 'utf8')).toBe(FILES['tokenizer.json']);
  });

  test('that is not there is refused by name', async () => {
    const { url } = await hub(new Set(), {});
    await expect(tokenizerFromHub('maker/model', url)).rejects.toMatchObject({
      reason: 'model-not-found',
      message: expect.stringContaining('maker/model'),
      cause: expect.objectContaining({ message: 'tokenizer_config.json: the hub answers 404' }),
    });
  });
});
