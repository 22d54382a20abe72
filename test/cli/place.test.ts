// How users name a run, and how it is named back to them.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findRun } from '../../cli/find/place.ts';
import { runArgument } from '../../library/command-line.ts';
import { UsageError } from '../../domain/errors/errors.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { scriptedIo } from './scripted-io.ts';

const cwd = scratchFolder();
for (const folder of ['runs/a', 'runs/b', 'else where/c', 'runs/no-run']) {
  mkdirSync(join(cwd, folder), { recursive: true });
  if (folder !== 'runs/no-run') writeFileSync(join(cwd, folder, 'run.json'), '{}');
}

describe('the place of a run', () => {
  test('a run is found by its name under --out', async () => {
    expect(await findRun(scriptedIo({ cwd }), 'a', 'runs')).toMatchObject({ run: 'a', out: join(cwd, 'runs') });
  });

  test('a run is found by its folder, wherever that is', async () => {
    expect(await findRun(scriptedIo({ cwd }), 'else where/c', 'runs')).toMatchObject({
      run: 'c',
      out: join(cwd, 'else where'),
    });
    expect(await findRun(scriptedIo({ cwd }), join(cwd, 'runs/b/'), 'x')).toMatchObject({
      run: 'b',
      out: join(cwd, 'runs'),
    });
  });

  test.each(['c', 'no-run', '../a', '', '\u0000', 'runs'])(
    '%j is no run, and those there are get named',
    async (named) => {
      const find = findRun(scriptedIo({ cwd }), named, 'runs');
      await expect(find).rejects.toThrow(UsageError);
      await expect(find).rejects.toThrow(expect.objectContaining({ reason: 'no-such-run', fix: 'There are: a, b.' }));
    },
  );

  test('a suggested command names a run by its name in ./runs, and by a quoted path elsewhere', () => {
    const io = scriptedIo({ cwd });
    expect(runArgument(io, { run: 'a', out: join(cwd, 'runs') })).toBe('a');
    expect(runArgument(io, { run: 'c', out: join(cwd, 'else where') })).toBe("'./else where/c'");
  });
});
