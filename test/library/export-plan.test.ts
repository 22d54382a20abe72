// The options of an export: which are refused, and what follows where none is given.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { main } from '../../cli/main.ts';
import { type ExportOptions, plannedExport } from '../../library/export-plan.ts';
import { openFileStore } from '../../records/file-store.ts';
import { someRun } from '../formats/exports/some-run.ts';
import { RUN } from '../records/play.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { call } from '../cli/command-line.ts';
import { scriptedIo } from '../cli/scripted-io.ts';

const folder = scratchFolder();

const target = { overwrite: true, onSkip: () => {} };

async function storeOf(stop: 'always' | 'success') {
  const store = openFileStore(join(folder, stop), RUN);
  if ((await store.countQueries().catch(() => 0)) === 0) await someRun(store, { stop });
  return store;
}

describe('the options of an export', () => {
  test.each<[string, string, ExportOptions, string]>([
    ['an unknown format', 'csv', {}, 'there is no export format "csv"'],
    ['limits in the wrong order', 'rows', { successRate: '0.9:0.1' }, '--success-rate'],
    ['limits above 1', 'rows', { successRate: [0, 2] }, '--success-rate'],
    ['sequences of another format', 'rows', { sequences: 'turn' }, '--sequences'],
    ['texts of another format', 'labels', { texts: true }, '--texts'],
    ['a gap of versions where no token can be masked', 'dpo', { maxTokenGap: 1 }, '--max-token-gap'],
    ['advantages where there is no place for them', 'dpo', { advantages: 'std' }, '--advantages'],
  ])('%s is refused before anything is read', (_, format, options, said) => {
    expect(() => plannedExport(format, options)).toThrow(
      expect.objectContaining({ boundary: 'usage', message: expect.stringContaining(said), fix: expect.any(String) }),
    );
  });

  test.each([
    ['half a member', '--min-members', '1.5'],
    ['no member', '--min-members', '0'],
  ])('%s is refused, by its flag', async (_, flag, value) => {
    const { code, err } = await call(folder, ['export', 'no-run', '--format', 'rows', flag, value]);
    expect([code, err]).toEqual([2, expect.stringContaining(`${flag} is "${value}"`)]);
  });

  test('Parquet, which is binary, to a terminal is refused, and says where to send it', async () => {
    for (const tty of [true, false]) {
      const io = scriptedIo({ tty });
      await main(io, ['export', 'any', '--format', 'parquet']);
      expect(/Parquet is binary[^]*--to/.test(io.text.err)).toBe(tty);
    }
  });

  test.each(['rows', 'dpo'])('%s with more members than the run has samples is refused', async (format) => {
    const store = await storeOf('always');
    const { samples } = (await store.get('run'))!.record;
    const planned = (minMembers: number) => plannedExport(format, { minMembers });
    const file = join(folder, `members-${format}`);
    await expect(planned(samples + 1)(store, { ...target, to: file })).rejects.toMatchObject({
      reason: 'bad-value',
      message: expect.stringContaining(`--min-members ${samples + 1}`),
      fix: expect.stringContaining(String(samples)),
    });
  });

  test('logs to stdout, or with --overwrite, is refused', async () => {
    const planned = plannedExport('logs', {});
    const store = await storeOf('always');
    await expect(planned(store, { ...target, to: new PassThrough() })).rejects.toMatchObject({
      message: expect.stringContaining('folder'),
    });
    await expect(planned(store, { ...target, to: join(folder, 'p') })).rejects.toMatchObject({
      message: expect.stringContaining('--overwrite'),
    });
  });

  test('AReaL’s samples are per turn where rollouts stop at success, else per rollout, unless it is said', async () => {
    const layouts = await Promise.all(
      (['always', 'success'] as const).flatMap((stop) =>
        [undefined, 'rollout' as const, 'turn' as const].map(async (sequences) => {
          const file = join(folder, `${stop}-${sequences}.jsonl`);
          const planned = plannedExport('areal', { sequences });
          const { note } = await planned(await storeOf(stop), { ...target, to: file });
          const first = JSON.parse(readFileSync(file, 'utf8').split('\n')[0]!) as { ids: string[] };
          return [stop, sequences ?? 'default', first.ids[0], /group_size/.test(note ?? '')];
        }),
      ),
    );
    expect(layouts).toEqual([
      ['always', 'default', 'q1', false],
      ['always', 'rollout', 'q1', false],
      ['always', 'turn', 'q1@0-t1', true],
      ['success', 'default', 'q1@0-t1', true],
      ['success', 'rollout', 'q1', true],
      ['success', 'turn', 'q1@0-t1', true],
    ]);
  });
});
