// The head of an ended rollout's line says which records there are: a changed one would be a smaller rollout.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSummaries } from '../../records/reading/trajectories.ts';
import { all } from '../contract/store.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { playGoodRun } from './check/good-run.ts';
import { again, endAll } from './ended-rig.ts';
import { RUN } from './play.ts';

describe('a segment', () => {
  test('with any changed byte in the head of a line is an error to every reader, and no smaller run', async () => {
    const out = scratchFolder();
    await playGoodRun(out);
    await endAll(out);
    const ended = join(out, RUN, 'ended');
    const segment = join(
      ended,
      readdirSync(ended).find((name) => name.endsWith('.jsonl'))!,
    );
    const text = readFileSync(segment);
    const head = text.indexOf(',"records":[');
    expect(head).toBeGreaterThan(100);
    rmSync(segment.replace(/jsonl$/, 'index'));
    for (let at = 1; at < head; at++) {
      const changed = Buffer.from(text);
      changed[at]! ^= 1;
      writeFileSync(segment, changed);
      await expect(all(again(out).listRows()), `byte ${at}`).rejects.toThrow(/is changed at byte 0/);
    }
    await expect(all(readSummaries(again(out)))).rejects.toThrow(/is changed at byte 0/);
  });
});
