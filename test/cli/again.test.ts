// A run of which every rollout failed is played again by the command that made it; the records of then are set aside, whole.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { runPlace } from '../../run/place.ts';
import { causeOf } from '../../cli/play/ending.ts';
import { showEnded } from '../../cli/play/play-run.ts';
import { callerOf } from '../../cli/play/say-event.ts';
import type { RunRecord } from '../../records/format/run-record.ts';
import { againIfAllFailed } from '../../run/again.ts';
import { openFileStore } from '../../records/file-store.ts';
import { aQuery, play, putRun, RUN, someSettings } from '../records/play.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { countsOf, resultOf, scriptedIo } from './scripted-io.ts';

let out: string;
beforeEach(() => void (out = testFolder()));

/** An ended run of one rollout. */
async function endedRun(outcome: 'failed' | 'complete', result: object = {}) {
  const store = openFileStore(out, RUN);
  const settings = someSettings({ numTurns: 1, model: 'openai:http://127.0.0.1:1/v1#m' });
  const query = aQuery('q');
  await putRun(store, [query], { settings });
  const failed = outcome === 'failed';
  await play(store, { query, settings, ...(failed ? { verdicts: [], stop: 'failed' } : { verdicts: ['right'] }) });
  const failures = failed ? [{ query: 'q', sample: 0, outcome, reason: 'scripted' }] : [];
  const counts = countsOf({ outcomes: { [outcome]: 1 }, failures } as never);
  await store.put('result', null, { ...resultOf({ run: RUN, total: 1, counts }), ...result });
  return runPlace(out, RUN);
}

const again = async (
  place: ReturnType<typeof runPlace>,
  io = scriptedIo({ cwd: out }),
  more: Partial<RunRecord> = {},
) => againIfAllFailed(place, { ...(await place.store.get('run'))!.record, ...more }, callerOf(io));

describe('a run of which every rollout failed', () => {
  test('is played again, and its records of then stay, beside the runs', async () => {
    const place = await endedRun('failed');
    const io = scriptedIo({ cwd: out });
    await (await again(place, io))!();
    expect(existsSync(join(out, RUN))).toBe(false);
    const [aside] = readdirSync(join(out, '.failed'));
    expect(aside).toMatch(new RegExp(`^${RUN}-1970-01-01T`));
    expect(existsSync(join(out, '.failed', aside!, 'run.json'))).toBe(true);
    expect(io.text.err).toContain(`every rollout of run "${RUN}" failed (scripted); the records of then are in`);
  });

  test.each([
    ['was cancelled', 'failed', { cancelled: true }, {}],
    ['has a rollout that is complete', 'complete', {}, {}],
    ['has a trainer', 'failed', {}, { train: {} }],
  ] as const)('is not, where it %s', async (_, outcome, result, more) => {
    expect(await again(await endedRun(outcome, result), undefined, more as never)).toBeUndefined();
  });

  test.each([
    ['names the command that does', {}, /retry .* --failed` plays what failed again/],
    ['needs another name where it was cancelled', { cancelled: true }, /With another --name/],
  ])('that is not played again %s', async (_, result, words) => {
    const place = await endedRun('failed', result);
    const io = scriptedIo({ cwd: out });
    await showEnded(io, place, (await place.store.get('result'))!.record as never, { maxFailed: 0, json: true });
    expect(io.text.err).toMatch(words);
  });

  test('is told as what it was, where it is not played again', async () => {
    const place = await endedRun('failed');
    const result = (await place.store.get('result'))!.record as never;
    expect(await causeOf({ place, result, maxFailed: 0, isPast: true })).toMatch(
      /The first failed then with the words: as the script says/,
    );
  });
});
