// A look at a run that is true only of a moment: a rollout ends while it is read, a fault goes away. The next look of the same
// reader knows better. growing-run.test.ts has the same with real writers, at any moment.

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { main } from '../../cli/main.ts';
import { checkRun } from '../../records/check/check.ts';
import { openDisk } from '../../records/steps/disk.ts';
import { openFileStore } from '../../records/file-store.ts';
import { rolloutFolder } from '../../records/format/layout.ts';
import { scriptedIo } from '../cli/scripted-io.ts';
import { playGoodRun } from './check/good-run.ts';
import { again, endAll, seenIn } from './ended-rig.ts';
import { RUN } from './play.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const root = scratchFolder();
const lines = join(root, 'lines');
let seen: unknown;
let out: string;
beforeAll(async () => {
  await playGoodRun(join(root, 'good'));
  seen = await seenIn(again(join(root, 'good')));
  cpSync(join(root, 'good'), lines, { recursive: true });
  await endAll(lines);
});
beforeEach(() => {
  out = mkdtempSync(join(root, 'run-'));
});

const ID = { run: RUN, query: 'one', sample: 0, attempt: 1 };
const ended = () => join(out, RUN, 'ended');

describe('a rollout that ends while it is read or written', () => {
  beforeEach(() => cpSync(join(root, 'good'), out, { recursive: true }));

  /** As another worker does it: the line first, then the first file, then others. */
  function endNow(...gone: readonly string[]): void {
    cpSync(join(lines, RUN, 'ended'), ended(), { recursive: true });
    for (const name of ['rollout.json', ...gone]) rmSync(join(out, RUN, rolloutFolder(ID), name), { force: true });
  }

  test.each([
    ['its end', ['end.json']],
    ['a turn', ['turn-002.json']],
    ['all but its end', ['turn-001.json', 'turn-002.json', 'turn-003.json', 'verdict-001.json']],
    ['nothing else', []],
  ])('is read whole, by its line, where of its files %s had gone', async (_what, gone) => {
    const store = again(out);
    const before = await store.readRecords(ID, ({ names, text }) => names().map(text).sort());
    let calls = 0;
    const after = await store.readRecords(ID, ({ names, text }) => {
      if (calls++ === 0) endNow(...gone);
      return names().map(text).sort();
    });
    expect(after).toEqual(before);
    expect(calls).toBe(2);
    expect((await again(out).readRecords(ID, ({ names }) => names())).sort()).toEqual(
      (await again(lines).readRecords(ID, ({ names }) => names())).sort(),
    );
  });

  test('is no broken record to another worker that begins it at that moment', async () => {
    const disk = openDisk();
    const writeOnce = async (path: string, text: string): Promise<boolean> => {
      const isMine = await disk.writeOnce(path, text);
      if (!isMine) await disk.end(join(out, RUN), ID, false);
      return isMine;
    };
    const store = openFileStore(out, RUN, { disk: { ...disk, writeOnce } });
    const record = (await again(lines).get('rollout', ID))!;
    expect(await store.put('rollout', ID, { ...record.record, birthTime: 5 })).toEqual({ ...record, created: false });
    expect(await store.readRecords(ID, ({ names }) => names())).toContain('end.json');
  });
});

describe('a segment', () => {
  beforeEach(() => cpSync(lines, out, { recursive: true }));

  test('with a fault is sound again to the same reader once the fault is gone', async () => {
    const path = join(
      ended(),
      readdirSync(ended()).find((name) => name.endsWith('.jsonl'))!,
    );
    const index = path.replace(/jsonl$/, 'index');
    const [text, names] = [readFileSync(path), readFileSync(index)];
    const never = { ...ID, query: 'never' };
    const damages: [RegExp, () => void][] = [
      [/ends at byte/, () => writeFileSync(path, text.subarray(0, 5000))],
      [/is the index of a segment that is missing/, () => rmSync(path)],
      [
        /is changed at byte 0/,
        () => (writeFileSync(index, ''), writeFileSync(path, Buffer.from(text).fill(65, 0, 20))),
      ],
    ];
    for (const [says, damage] of damages) {
      damage();
      const store = again(out);
      await expect(store.listRolloutsOf('never'), String(says)).rejects.toThrow(says);
      await expect(store.get('end', never), String(says)).rejects.toMatchObject({ reason: 'record-broken' });
      writeFileSync(path, text);
      writeFileSync(index, names);
      expect(await store.listRolloutsOf('never'), String(says)).toEqual([]);
      expect(await store.get('end', never)).toBeUndefined();
      expect(await seenIn(store), String(says)).toEqual(seen);
    }
  });

  test('of which only an empty index is left is no fault: nothing was ever in it', async () => {
    writeFileSync(join(ended(), 'a-b.index'), '');
    await checkRun(again(out), (breach) => expect.unreachable(JSON.stringify(breach)));
    expect(await seenIn(again(out))).toEqual(seen);
  });

  test('with a damaged record is named with the line and the record by who reads that rollout, and by nobody else', async () => {
    const name = readdirSync(ended()).find((one) => one.endsWith('.jsonl'))!;
    const text = readFileSync(join(ended(), name), 'utf8');
    const line = text.split(/(?<=\n)/).find((one) => one.includes('{"query":"FOUR","sample":1,'))!;
    writeFileSync(join(ended(), name), text.replace(line, line.replace('"answer":"it is 2', '"answer":"it is 9')));
    const place = `${join(ended(), name)}, in the line at byte ${text.indexOf(line)}`;
    const record = `${rolloutFolder({ ...ID, query: 'FOUR', sample: 1 })}/turn-002.json`;
    for (const command of ['why', 'show']) {
      const io = scriptedIo({ cwd: out, env: {} });
      expect(await main(io, [command, RUN, 'FOUR', '--sample', '1', '--out', out]), command).toBe(1);
      expect(io.text.err).toContain(`${place}: ${record} is changed: its content has hash`);
      expect(io.text.err).toContain('Take this file from a copy of the run; no step writes it again.');
      expect(await main(scriptedIo({ cwd: out, env: {} }), [command, RUN, 'FOUR', '--out', out]), command).toBe(0);
    }
  });
});
