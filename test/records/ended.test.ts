// Ended rollouts as lines: the same to every reader as their files were, whatever happened to a worker, an index or a byte.

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkRun } from '../../records/check/check.ts';
import { openDisk } from '../../records/steps/disk.ts';
import { type FileLayer, NODE_FILES } from '../../records/disk/file-layer.ts';
import { openFileStore } from '../../records/file-store.ts';
import { rolloutFolder } from '../../records/format/layout.ts';
import { readSummaries } from '../../records/reading/trajectories.ts';
import type { ChunkRecord } from '../../domain/rollout/turn.ts';
import type { RolloutRow } from '../../domain/rollout/rollout-row.ts';
import type { Breach, Store } from '../../records/store.ts';
import { all } from '../contract/store.ts';
import { playGoodRun } from './check/good-run.ts';
import { again, bytesIn, endAll, mortalLayer, openLoose, rolloutsIn, seenIn } from './ended-rig.ts';
import { aQuery, play, RUN, turnRecord } from './play.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const root = scratchFolder();
let seen: unknown;
let out: string;
beforeAll(async () => {
  await playGoodRun(join(root, 'good'));
  seen = await seenIn(again(join(root, 'good')));
});
beforeEach(() => {
  out = mkdtempSync(join(root, 'run-'));
  cpSync(join(root, 'good'), out, { recursive: true });
});

const ID = { run: RUN, query: 'one', sample: 0, attempt: 1 };
const ended = () => join(out, RUN, 'ended');
const segments = () => readdirSync(ended()).filter((name) => name.endsWith('.jsonl'));
const segment = () => join(ended(), segments()[0]!);
const linesOf = (path: string) => readFileSync(path, 'utf8').split('\n').slice(0, -1);
const filesLeft = () => Object.keys(bytesIn(join(out, RUN))).filter((path) => path.startsWith('rollouts/'));

async function breaches(): Promise<Breach[]> {
  const found: Breach[] = [];
  await checkRun(again(out), (breach) => found.push(breach));
  return found;
}

const entries = (): Promise<RolloutRow[]> => all(again(out).listRows());

describe('an ended rollout', () => {
  test('is one line of JSON, and its files and folders are gone', async () => {
    await endAll(out);
    expect(readdirSync(join(out, RUN, 'rollouts'))).toEqual([]);
    expect(segments()).toHaveLength(1);
    const lines = linesOf(segment());
    expect(lines).toHaveLength(9);
    const line = JSON.parse(lines[0]!) as { of_rollout: object; files: object; records: { format: string }[] };
    expect(Object.keys(line.files)).toHaveLength(line.records.length);
    expect([line.records[0]!.format, line.records.at(-1)!.format]).toEqual(['everturn-rollout/1', 'everturn-end/1']);
  });

  test('is to every reader what its files were', async () => {
    const summaries = await all(readSummaries(again(out)));
    await endAll(out);
    expect(await seenIn(again(out))).toEqual(seen);
    expect(await all(readSummaries(again(out)))).toEqual(summaries);
    expect(await breaches()).toEqual([]);
  });

  test('has the same line whoever writes it, and two equal ones count once', async () => {
    const [one, other] = [openDisk(), openDisk()];
    const store = again(out);
    const ids = await all(store.listRollouts());
    for (const id of ids) await Promise.all([one, other].map((disk) => disk.end(store.folder, id, false)));
    const written = segments().map((name) => linesOf(join(ended(), name)));
    expect(new Set(written.flat()).size).toBe(9);
    expect(await seenIn(again(out))).toEqual(seen);
    expect(await breaches()).toEqual([]);
    writeFileSync(join(ended(), 'a-copy.jsonl'), readFileSync(segment()));
    expect(await seenIn(again(out))).toEqual(seen);
    expect(await breaches()).toEqual([]);
    expect(await entries()).toHaveLength(9);
  });

  test('takes no further record, and what a late writer left is no part of it', async () => {
    await endAll(out);
    const store = again(out);
    const late = turnRecord(4, 'too late');
    await expect(store.put('turn', ID, late)).rejects.toMatchObject({ reason: 'rollout-ended' });
    expect((await store.put('turn', ID, turnRecord(1, 'another')))?.created).toBe(false);
    expect((await store.put('rollout', ID, (await store.get('rollout', ID))!.record)).created).toBe(false);
    expect(filesLeft()).toEqual([]);
    // Killed before it saw that the rollout had ended.
    const folder = join(out, RUN, rolloutFolder(ID));
    mkdirSync(folder, { recursive: true });
    const text = readFileSync(join(root, 'good', RUN, rolloutFolder(ID), 'turn-002.json'), 'utf8');
    writeFileSync(join(folder, 'turn-004.json'), text);
    expect(await seenIn(again(out))).toEqual(seen);
    expect(await breaches()).toEqual([]);
    const result = (await again(out).get('result'))!.record;
    await again(out).put('result', null, result);
    expect(existsSync(folder)).toBe(false);
  });

  test('with a damaged record stays files: they are evidence', async () => {
    const path = join(out, RUN, rolloutFolder(ID), 'verdict-002.json');
    const harmed = readFileSync(path, 'utf8').replace('"turn":2', '"turn":3');
    rmSync(path);
    writeFileSync(path, harmed);
    await endAll(out);
    expect(linesOf(segment())).toHaveLength(8);
    expect(readFileSync(path, 'utf8')).toBe(harmed);
    expect((await breaches()).map(({ path: at }) => at)).toContain(`${rolloutFolder(ID)}/verdict-002.json`);
  });

  test('with two lines is the longer one, and a line that says something else is a breach', async () => {
    await endAll(out);
    const other = async (name: string, change: (store: Store) => Promise<unknown>) => {
      const from = mkdtempSync(join(root, `${name}-`));
      await change(openLoose(from));
      await endAll(from);
      const [made] = readdirSync(join(from, RUN, 'ended')).filter((one) => one.endsWith('.jsonl'));
      writeFileSync(join(ended(), `${name}.jsonl`), readFileSync(join(from, RUN, 'ended', made!)));
    };
    const before = await again(out).readRecords(ID, ({ names }) => names());
    await other('longer', async (store) => {
      cpSync(join(root, 'good', RUN, rolloutFolder(ID)), join(store.folder, rolloutFolder(ID)), { recursive: true });
      await store.put('chunk', ID, { turn: 3, chunk: 1 } as ChunkRecord);
    });
    expect((await again(out).readRecords(ID, ({ names }) => names())).length).toBe(before.length + 1);
    const ofLines = async () => (await breaches()).filter(({ path }) => path.startsWith('ended/'));
    expect(await ofLines()).toEqual([]);
    await other('another', (store) => play(store, { query: aQuery('one'), verdicts: ['right'] }));
    expect(await ofLines()).toMatchObject([
      { path: 'ended/another.jsonl', problem: expect.stringMatching(/another .*json of rollouts/) },
    ]);
  });
});

describe('a segment', () => {
  test('is read without its index, or with a wrong one, as with it', async () => {
    await endAll(out);
    const index = segment().replace(/jsonl$/, 'index');
    const text = readFileSync(index, 'utf8');
    const right = await entries();
    expect(right).toHaveLength(9);
    const first = text.split('\n')[0]!;
    for (const wrong of [
      null,
      '',
      text.slice(0, -30),
      'x'.repeat(500),
      text.slice(first.length + 1),
      text.replace('"query":"one"', '"query":"eno"'),
      text.replace('"sample":0', '"sample":1'),
    ]) {
      if (wrong === null) rmSync(index);
      else writeFileSync(index, wrong);
      expect(await seenIn(again(out)), String(wrong).slice(0, 40)).toEqual(seen);
    }
    rmSync(index);
    expect(await entries()).toEqual(right);
  });

  test('with a torn tail is read up to its last whole line', async () => {
    await endAll(out);
    const lines = linesOf(segment());
    const torn = mkdtempSync(join(root, 'torn-'));
    cpSync(join(root, 'good'), torn, { recursive: true });
    mkdirSync(join(torn, RUN, 'ended'));
    for (const bytes of [1, 100, lines[1]!.length - 1, lines[1]!.length]) {
      writeFileSync(join(torn, RUN, 'ended', 'a.jsonl'), `${lines[0]}\n${lines[1]!.slice(0, bytes)}`);
      expect(rolloutsIn(await seenIn(again(torn))), String(bytes)).toEqual(rolloutsIn(seen));
    }
  });

  test('that is cut, gone or changed is an error for all who ask for what was there, and a breach', async () => {
    await endAll(out);
    const text = readFileSync(segment());
    const path = segment();
    const at = text.indexOf('"answer":"it is 2') + 12;
    const changed = Buffer.from(text);
    changed.write('IT', at);
    const harms: [RegExp, () => void][] = [
      [/ends at byte/, () => writeFileSync(path, text.subarray(0, text.length - 3))],
      [/is the index of a segment that is missing/, () => rmSync(path)],
      [/is changed/, () => writeFileSync(path, changed)],
      [
        /is changed at byte 0/,
        () => writeFileSync(path, Buffer.concat([Buffer.from('{'), text.subarray(1)]).fill(65, 0, 20)),
      ],
    ];
    const elsewhere = join(out, 'elsewhere.jsonl');
    writeFileSync(elsewhere, text);
    for (const replace of [() => symlinkSync(elsewhere, path), () => mkdirSync(path)])
      harms.push([
        /is no regular file/,
        () => {
          rmSync(path);
          replace();
        },
      ]);
    for (const [says, harm] of harms) {
      harm();
      const found = (await breaches()).map((breach) => `${breach.path} ${breach.problem}`);
      expect(found.join('\n')).toMatch(says);
      await expect(seenIn(again(out)), String(says)).rejects.toThrow(says);
      rmSync(path, { recursive: true, force: true });
      writeFileSync(path, text);
    }
    expect(await breaches()).toEqual([]);
  });

  test('whose line names another rollout than its index is an error, and none is left out in silence', async () => {
    await endAll(out);
    const text = readFileSync(segment());
    text.write('7', text.indexOf('"sample":0') + 9);
    writeFileSync(segment(), text);
    await expect(all(readSummaries(again(out)))).rejects.toThrow(/is changed at byte 0, where .* 0\.1 was/);
    expect(await breaches()).not.toEqual([]);
  });

  test('that is not ours is a breach', async () => {
    await endAll(out);
    writeFileSync(join(ended(), 'notes.txt'), 'x');
    expect(await breaches()).toEqual([{ path: 'ended/notes.txt', problem: 'is not of this run' }]);
  });

  test('is followed by another where the disk fails: no line is lost, and no pile of files is left', async () => {
    let failing = true;
    const layer: FileLayer = {
      ...NODE_FILES,
      async open(path, flags) {
        const file = await NODE_FILES.open(path, flags);
        const full = () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }));
        return failing && path.endsWith('.jsonl')
          ? { writeFile: full, sync: () => file.sync(), close: () => file.close() }
          : file;
      },
    };
    const disk = openDisk(layer);
    const folder = join(out, RUN);
    for (let attempt = 0; attempt < 3; attempt++)
      await expect(disk.end(folder, ID, false)).rejects.toMatchObject({ reason: 'disk-full', retryable: true });
    expect(readdirSync(ended())).toEqual([]);
    expect(await seenIn(again(out))).toEqual(seen);
    failing = false;
    await disk.end(folder, ID, false);
    expect(await seenIn(again(out))).toEqual(seen);
    expect(await entries()).toHaveLength(1);
  });

  test('is another one where the folder of the run was moved away and made again', async () => {
    const store = openFileStore(out, RUN);
    const id = { ...ID, query: 'more' };
    const more = () => play(store, { query: aQuery('more'), index: null, verdicts: ['right'] });
    await more();
    renameSync(join(out, RUN), join(out, 'moved'));
    cpSync(join(root, 'good'), out, { recursive: true });
    await more();
    expect((await again(out).get('end', id))?.record.outcome).toBe('complete');
    expect(readdirSync(join(out, 'moved', 'ended'))).toHaveLength(2);
  });
});

describe('a worker that dies at any change of the disk', () => {
  test('leaves a whole run, which the next one ends', async () => {
    const whole = mortalLayer(Infinity);
    await endAll(out, whole.layer);
    const changes = whole.changes();
    expect(changes).toBeGreaterThan(80);
    for (let after = 0; after < changes; after += 7) {
      const dying = mkdtempSync(join(root, 'dying-'));
      cpSync(join(root, 'good'), dying, { recursive: true });
      await endAll(dying, mortalLayer(after).layer).catch(() => {});
      expect(rolloutsIn(await seenIn(again(dying))), String(after)).toEqual(rolloutsIn(seen));
      await endAll(dying);
      const store = again(dying);
      await store.put('result', null, (await store.get('result'))!.record);
      expect(await seenIn(again(dying)), String(after)).toEqual(seen);
      rmSync(dying, { recursive: true });
    }
  });
});
