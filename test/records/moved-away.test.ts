// A run's folder that is away for a moment while it is read: an error to repeat, and never a smaller run.

import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSummaries, readTrajectories } from '../../records/reading/trajectories.ts';
import { mustHoldAll } from '../../records/run/present.ts';
import type { Store } from '../../records/store.ts';
import { all } from '../contract/store.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { playGoodRun } from './check/good-run.ts';
import { again, endAll } from './ended-rig.ts';
import { RUN } from './play.ts';

const READERS: readonly (readonly [string, (store: Store) => AsyncGenerator<object>])[] = [
  ['summaries', readSummaries],
  ['trajectories', readTrajectories],
];

describe('a run that is moved while it is read', () => {
  test.each(READERS)('is an error to repeat to a reader of %s', async (_, reader) => {
    const out = scratchFolder();
    await playGoodRun(out);
    await endAll(out);
    const [there, away] = [join(out, RUN), join(out, 'away')];
    const whole = await all(reader(again(out)));
    const read = reader(again(out));
    await read.next();
    renameSync(there, away);
    await expect(all(read)).rejects.toThrow(/was moved, or lost files|is changed/);
    // Commands ask before they read; a run that the server alone knows may have no folder.
    await expect(mustHoldAll(again(out))).rejects.toThrow('was moved, or lost files');
    expect(await all(reader(again(out)))).toEqual([]);
    renameSync(away, there);
    expect(await all(reader(again(out)))).toHaveLength(whole.length);
  });
});
