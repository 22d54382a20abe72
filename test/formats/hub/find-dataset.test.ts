// Data sets of a hub by name, from a server on loopback. The hub itself is not asked.

import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { planRun } from '../../../run/plan.ts';
import { resolveOptions } from '../../../run/config.ts';
import { mustBeSameRun } from '../../../run/create-run.ts';
import { readRows } from '../../../run/rows.ts';
import { findDataset, findRecorded } from '../../../formats/hub/find-dataset.ts';
import { hubServer, type HubServer } from './hub-server.ts';

let root: string;
let server: HubServer;
let env: Record<string, string>;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'everturn-hub-'));
  server = await hubServer('maker/sums', FILES);
  env = { HF_HOME: root, HF_ENDPOINT: `${server.url}/` };
});
afterEach(() => rmSync(root, { recursive: true }));

const row = (i: number) => ({ question: `What is ${i} + ${i}?`, answer: String(i + i) });
const jsonl = (...rows: readonly object[]) => rows.map((one) => `${JSON.stringify(one)}\n`).join('');
function parquet(...rows: readonly ReturnType<typeof row>[]): Uint8Array {
  const column = (name: 'question' | 'answer') => ({
    name,
    data: rows.map((one) => one[name]),
    type: 'STRING' as const,
  });
  return new Uint8Array(parquetWriteBuffer({ columnData: [column('question'), column('answer')] }));
}
const SHARDS = [parquet(row(1), row(2)), parquet(row(3))] as const;
const README = `---
license: mit
configs:
- config_name: main
  data_files:
  - split: train
    path: main/train-*
  - {split: test, path: main/test-*}
- config_name: words
  data_files: '**/words*.csv'
---
# Sums
`;
const FILES = {
  'README.md': README,
  'main/train-00000-of-00001.parquet': parquet(row(7)),
  'main/test-00000-of-00002.parquet': SHARDS[0],
  'main/test-00001-of-00002.parquet': SHARDS[1],
  'more/words.csv': 'question,answer\nWhat?,1\n',
  'notes.txt': 'none',
};
const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');

const find = (place: string, more: Record<string, string> = {}) =>
  findDataset(place, { cwd: root, env: { ...env, ...more } });
const read = (dataset: Awaited<ReturnType<typeof find>>) => readRows({ dataset, limit: null, shuffleSeed: null });
const refused = (place: string, reason: string, ...texts: readonly string[]) =>
  find(place).then(
    () => expect.unreachable(place),
    (error: Error & { readonly reason: string; readonly fix: string }) => {
      expect(error.reason).toBe(reason);
      for (const text of texts) expect(`${error.message}. ${error.fix}`).toContain(text);
    },
  );
const recordOf = (dataset: Parameters<typeof planRun>[0]['dataset'], name?: string) =>
  planRun({ ...resolveOptions({}), name, dataset, now: 0 });

describe('a data set on the hub', () => {
  test('is one table of its files, and the record has its commit and the hash of each', async () => {
    const rows = await read(await find('hf:maker/sums/main/test'));
    const queries: (string | undefined)[][] = [];
    for await (const { queryId, solutions } of rows.queries()) queries.push([queryId, solutions[0]]);
    expect(queries).toEqual([
      ['1', '2'],
      ['2', '4'],
      ['3', '6'],
    ]);
    rows.close();
    const names = Object.keys(FILES).filter((name) => name.includes('test'));
    expect(rows.dataset).toMatchObject({
      path: 'hf:maker/sums/main/test',
      hub: { commit: server.commit, files: names.map((name, i) => ({ name, sha256: sha256(SHARDS[i]!) })) },
    });
    expect(recordOf(rows.dataset).run).toMatch(/^sums-main-test-[0-9a-f]{8}$/);
  });

  test('is loaded once, into the cache that Python uses, and found there without a network', async () => {
    const first = await find('hf:maker/sums/main/test');
    const folder = join(root, 'hub/datasets--maker--sums');
    expect(first.files[0]).toBe(join(folder, 'snapshots', server.commit, 'main/test-00000-of-00002.parquet'));
    expect(realpathSync(first.files[0]!)).toBe(join(realpathSync(folder), 'blobs', sha256(SHARDS[0])));
    expect(basename(realpathSync(join(folder, 'snapshots', server.commit, 'README.md')))).toMatch(/^[0-9a-f]{40}$/);
    expect(readFileSync(join(folder, 'refs/main'), 'utf8')).toBe(server.commit);
    const loads = () => server.asked.filter((line) => line.includes('/resolve/') || line.startsWith('storage')).length;
    const before = loads();
    expect(await find('hf:maker/sums/main/test')).toEqual(first);
    expect(loads()).toBe(before);
    const all = server.asked.length;
    expect(await find('hf:maker/sums/main/test', { HF_HUB_OFFLINE: '1' })).toEqual(first);
    expect(await findRecorded(first, { cwd: root, env })).toEqual(first);
    expect(server.asked).toHaveLength(all);
    const missing = find('hf:maker/sums/main/train', { HF_HUB_OFFLINE: '1' });
    await expect(missing).rejects.toThrow('has no split main/train in the cache, and HF_HUB_OFFLINE is set');
    rmSync(first.files[1]!);
    const half = find('hf:maker/sums/main/test', { HF_HUB_OFFLINE: '1' });
    await expect(half).rejects.toMatchObject({ reason: 'hub-offline', message: expect.stringContaining('1 files of') });
    env['HF_HUB_OFFLINE'] = 'TRUE';
    await refused('hf:maker/other', 'hub-offline', 'HF_HUB_OFFLINE is set', 'hf download --repo-type dataset');
  });

  test('is that of the revision, and a run that played another commit says both', async () => {
    const old = await read(await find('hf:maker/sums/main/train'));
    const before = server.commit;
    server.push({ ...FILES, 'main/train-00000-of-00001.parquet': parquet(row(8)) });
    const pinned = await read(await find(`hf:maker/sums@${before}/main/train`));
    expect(pinned.dataset).toEqual(old.dataset);
    const now = await read(await find('hf:maker/sums@main/main/train'));
    expect(now.dataset.hub!.commit).toBe(server.commit);
    const message = expect.stringContaining(`the data set (commit ${before} there, ${server.commit} here)`);
    const other = expect.objectContaining({ reason: 'run-differs', message });
    expect(() => mustBeSameRun('runs/r', recordOf(old.dataset, 'r'), recordOf(now.dataset, 'r'))).toThrow(other);
    for (const rows of [old, pinned, now]) rows.close();
  });

  test('sends the token to the hub, and never to the storage that it names', async () => {
    writeFileSync(join(root, 'token'), 'hf_of_a_file\n');
    await find('hf:maker/sums/main/train');
    await find('hf:maker/sums/main/test', { HF_TOKEN: 'any-token' });
    const [hub, storage] = [false, true].map((is) => server.asked.filter((line) => line.startsWith('storage') === is));
    const tokens = new Set(hub!.map((line) => line.split(' ').slice(2).join(' ')));
    expect(tokens).toEqual(new Set(['Bearer hf_of_a_file', 'Bearer any-token']));
    expect(new Set(storage)).toEqual(new Set(['storage no token']));
  });

  test('whose bytes are not those that the hub lists is refused, from the hub and in the cache', async () => {
    const flipped = (content: Buffer) => Buffer.from(content.map((byte, i) => (i === 20 ? byte ^ 1 : byte)));
    server.send(flipped);
    await refused('hf:maker/sums/main/test', 'dataset-changed', 'has another content than the hub names');
    server.send(undefined);
    const [file] = (await find('hf:maker/sums/main/test')).files;
    writeFileSync(realpathSync(file!), flipped(readFileSync(file!)));
    await refused('hf:maker/sums/main/test', 'dataset-changed', file!);
    env['HF_HUB_OFFLINE'] = '1';
    await refused('hf:maker/sums/main/test', 'dataset-changed', file!);
  });
});

describe('the split of a data set on the hub', () => {
  const pathOf = async (files: Readonly<Record<string, string>>, place = '') => {
    server.push(files);
    return (await find(`hf:maker/sums${place}`)).path;
  };
  const one = jsonl(row(1));

  test('is named by configuration and split, by one that tells it, or by its file', async () => {
    for (const [place, path] of [
      ['words', 'words/train'],
      ['words/train', 'words/train'],
      ['more/words.csv', 'more/words.csv'],
    ])
      expect((await find(`hf:maker/sums/${place}`)).path).toBe(`hf:maker/sums/${path}`);
    await refused('hf:maker/sums', 'hub-place', 'several splits', 'as in hf:maker/sums/main/test', 'words/train');
    await refused('hf:maker/sums/main', 'hub-place', 'there are: main/train, main/test.');
    await refused('hf:maker/sums/main/dev', 'hub-place', 'has no split main/dev');
  });

  test('is the only one, or follows from the names of files', async () => {
    expect(await pathOf({ 'test.jsonl': one })).toBe('hf:maker/sums/default/test');
    expect(await pathOf({ 'problems.jsonl': one, '.x.json': '{}', 'dataset_infos.json': '{}' })).toMatch(
      /default\/train$/,
    );
    const sharded = { 'data/train-00000-of-00001.jsonl': one, 'data/dev-00000-of-00001.jsonl': one };
    expect(await pathOf(sharded, '/dev')).toBe('hf:maker/sums/default/dev');
    expect(await pathOf({ 'en/eval.jsonl': one, 'de/eval.jsonl': one }, '/de')).toBe('hf:maker/sums/de/test');
    const mixed = { 'en/test/0.csv': 'question,answer\n1?,1\n', 'test.json': one, 'a.csv': 'a' };
    expect(await pathOf(mixed, '/en')).toBe('hf:maker/sums/en/test');
    await refused('hf:maker/sums', 'hub-place', 'there are: default/train, en/test.');
    const [header, files] = [
      '---\nconfigs: [{config_name: a, data_dir: in}]\n---\n',
      { 'in/val.jsonl': one, 'test.jsonl': one },
    ];
    expect(await pathOf({ ...files, 'README.md': header })).toBe('hf:maker/sums/a/validation');
    const twice = {
      'x.csv': 'question,answer\n',
      'x1.jsonl': one,
      'x2.jsonl': one,
      'README.md': header.replace('data_dir: in', 'data_files: x*'),
    };
    server.push(twice);
    expect((await find('hf:maker/sums')).hub!.files.map(({ name }) => name)).toEqual(['x1.jsonl', 'x2.jsonl']);
    await expect(pathOf({ 'script.py': 'x' })).rejects.toMatchObject({
      fix: expect.stringContaining('refs/convert/parquet'),
    });
  });

  test('is of a place that is written as one', async () => {
    for (const place of [
      'hf:sums',
      'hf:maker',
      'hf:maker/sums@',
      'hf:maker/../x',
      'hf://maker/sums',
      'hf:maker/sums@a/b@c/..',
    ])
      await refused(place, 'hub-place', 'is no place on the hub', 'hf:<org>/<name>[@revision][/config/split]');
    for (const named of ['maker/sums', 'https://huggingface.co/datasets/maker/sums'])
      await refused(named, 'hub-place', 'There is no data set at', 'If it is one of the hub, write hf:maker/sums.');
  });
});

describe('a hub that refuses says what to do', () => {
  test.each([
    [401, {}, 'hub-refused', ['no data set maker/sums that is open to everybody', 'needs HF_TOKEN']],
    [
      401,
      { 'x-error-code': 'GatedRepo' },
      'hub-refused',
      ['is gated', 'Accept its terms at', '/datasets/maker/sums', 'HF_TOKEN'],
    ],
    [403, {}, 'hub-refused', ['Accept its terms at']],
    [404, { 'x-error-code': 'RepoNotFound' }, 'hub-refused', ['Check the name at']],
    [429, { 'retry-after': '77' }, 'hub-unreachable', ['no more requests for now', 'in 77 s', 'HF_TOKEN']],
    [503, {}, 'hub-unreachable', ['answers 503', 'HF_HUB_OFFLINE=1']],
  ] as const)('%i %o', async (status, headers, reason, texts) => {
    server.refuse(status, headers);
    await refused('hf:maker/sums', reason, ...texts);
    expect(server.asked).toHaveLength(1);
  });

  test('an unknown revision, no network, a token that is none, and a caller that has enough', async () => {
    await refused('hf:maker/sums@v9/main/test', 'hub-refused', 'no revision v9');
    await expect(find('hf:maker/sums', { HF_TOKEN: 'hf_€' })).rejects.toThrow('HF_TOKEN cannot be a token');
    env['HF_ENDPOINT'] = 'http://127.0.0.1:9';
    await refused('hf:maker/sums', 'hub-unreachable', 'did not arrive from http://127.0.0.1:9', 'Check the network');
    const stopped = findDataset('hf:maker/sums', { cwd: root, env, signal: AbortSignal.abort(new Error('enough')) });
    await expect(stopped).rejects.toThrow('enough');
  });
});
