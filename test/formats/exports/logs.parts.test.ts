// The folder of logs that is made of the records, beside the one that the run wrote.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { logFiles, logs } from '../../../formats/exports/logs.ts';
import { checkRun } from '../../../records/check/check.ts';
import { exportFolder } from '../../../records/export/export-folder.ts';
import type { Breach } from '../../../records/store.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { aQuery, play, putRun, RUN, someSettings } from '../../records/play.ts';
import { someRun } from './some-run.ts';

const folder = mkdtempSync(join(tmpdir(), 'everturn-logs-'));
afterAll(() => rmSync(folder, { recursive: true }));

const filesIn = (root: string) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.includes('.'))
    .toSorted();

describe('logs out of records', () => {
  test('the logs of every rollout, also of failed and unfinished ones and of each attempt, are those that its run wrote', async () => {
    const store = openFileStore(folder, RUN);
    await someRun(store);
    const again = { query: aQuery('q@3'), index: 2, sample: 1, attempt: 2, versions: [3, 9] };
    await play(store, { ...again, verdicts: ['wrong', 'right'], unjudged: 1, stop: null });
    const place = { folder: join(folder, 'made'), top: logs.top };
    const summary = await exportFolder(store, logFiles, place);
    const [own, made] = [join(folder, RUN, logs.top), join(place.folder, logs.top)];
    expect(filesIn(own).length).toBeGreaterThan(20);
    expect(filesIn(made)).toEqual(filesIn(own));
    for (const name of filesIn(own)) expect(readFileSync(join(made, name))).toEqual(readFileSync(join(own, name)));
    expect(summary).toMatchObject({ exported: 14, files: filesIn(own).length, skipped: {} });
  });

  test('check wants no log of a run without them, and names one that is there', async () => {
    const run = 'without';
    const settings = someSettings({ logs: 'none' });
    const store = openFileStore(folder, run);
    await putRun(store, [aQuery('one')], { run, settings });
    await play({ ...store, putLog: async () => {} }, { run, query: aQuery('one'), settings, verdicts: ['right'] });
    const breaches: Breach[] = [];
    const aboutLogs = () => breaches.filter(({ path }) => path.startsWith(logs.top));
    await checkRun(store, (breach) => breaches.push(breach));
    expect(existsSync(join(folder, run, logs.top))).toBe(false);
    expect(aboutLogs()).toEqual([]);
    await store.putLog(0, 'one', { txt: 'a', jsonl: 'b' });
    await checkRun(store, (breach) => breaches.push(breach));
    expect(aboutLogs().map(({ path }) => path)).toEqual(['answers/0/one.jsonl', 'answers/0/one.txt']);
  });
});
