// Models beside a run's own: each request of a rollout is asked once, and later ones, and those of a rerun, get the record.

import { describe, expect, test } from 'vitest';
import { openSides, type PassOn } from '../../activities/agent-sides.ts';
import { parseSideModel, type SideRecord } from '../../domain/agent/side-model.ts';
import type { Json } from '../../domain/text/json.ts';
import type { Store } from '../../records/store.ts';

const ID = { out: '/runs', run: 'r', query: 'q', sample: 0, attempt: 1 };
const TO = { name: 'embed', url: 'http://a/v1' };

function rig() {
  const records: SideRecord[] = [];
  const asked: Json[] = [];
  let fails: Error | undefined;
  const store = {
    get: async (_kind: string, _id: object, entry: number) => {
      const record = records[entry - 1];
      return record && { record, hash: 'h' };
    },
    put: async (_kind: string, _id: object, record: SideRecord) => ({
      record: (records[record.entry - 1] ??= record),
      hash: 'h',
    }),
  } as unknown as Store;
  const passOn: PassOn = async (_to, path, body) => {
    if (fails) throw fails;
    asked.push([path, body]);
    return JSON.stringify({ data: asked.length });
  };
  const open = () => openSides(store, ID, { passOn, now: () => 5, signal: new AbortController().signal });
  return { records, asked, open, fail: (error?: Error) => (fails = error) };
}

describe('a model beside the run’s own', () => {
  test('is asked for each request, and again for none that an earlier attempt made: equal ones in their order', async () => {
    const { records, asked, open } = rig();
    const ask = open();
    const equal = [
      { model: 'embed', input: 'a' },
      { input: 'a', model: 'embed' },
    ];
    const both = await Promise.all(equal.map((body) => ask(TO, '/embeddings', body)));
    expect(both).toEqual(['{"data":1}', '{"data":2}']);
    expect(await ask(TO, '/rerank', { model: 'embed', input: 'a' })).toBe('{"data":3}');
    const again = open();
    for (const n of [1, 2, 4]) expect(await again(TO, '/embeddings', equal[1]!)).toBe(`{"data":${n}}`);
    expect(await again(TO, '/rerank', equal[0]!)).toBe('{"data":3}');
    expect(asked).toHaveLength(4);
    expect(records.map(({ entry, path, reply }) => [entry, path, reply])).toEqual([
      [1, '/embeddings', '{"data":1}'],
      [2, '/embeddings', '{"data":2}'],
      [3, '/rerank', '{"data":3}'],
      [4, '/embeddings', '{"data":4}'],
    ]);
  });

  test('is asked again after a failure, which no record has; two attempts at once keep both replies', async () => {
    const { records, open, fail } = rig();
    const [one, other] = [open(), open()];
    fail(new Error('away'));
    await expect(one(TO, '/embeddings', { input: 'a' })).rejects.toThrow('away');
    expect(records).toEqual([]);
    fail(undefined);
    expect(await one(TO, '/embeddings', { input: 'a' })).toBe('{"data":1}');
    expect(await other(TO, '/embeddings', { input: 'b' })).toBe('{"data":2}');
    expect(records.map(({ reply }) => reply)).toEqual(['{"data":1}', '{"data":2}']);
  });

  test('is named by its address, and its name there', () => {
    const url = (text: string) => text.replace(/\/$/, '');
    expect(parseSideModel('small=openai:http://a:1/v1/', url)).toEqual({ name: 'small', url: 'http://a:1/v1' });
    expect(parseSideModel('e=openai:http://a:1#org/m', url)).toEqual({
      name: 'e',
      url: 'http://a:1/v1',
      model: 'org/m',
    });
    for (const wrong of ['small', 'small=http://a', '=openai:http://a', 'a b=openai:http://a'])
      expect(() => parseSideModel(wrong, url)).toThrow('names no model beside the run');
  });
});
