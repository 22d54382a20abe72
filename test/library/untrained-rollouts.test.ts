// A wrong name in `--train-calls` leaves rollouts untrained: what a run says of it.

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { untrainedLine } from '../../cli/view/untrained.ts';
import { untrainedRollouts } from '../../library/untrained-rollouts.ts';
import type { AskedCall } from '../../domain/agent/index.ts';
import type { RolloutSettings } from '../../domain/rollout/settings.ts';
import { openFileStore } from '../../records/file-store.ts';
import { aQuery, aRunRecord, play, putRun, RUN, someSettings, withRecords } from '../records/play.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const cwd = scratchFolder();
const QUERIES = ['q1', 'q2', 'q3'].map((id) => aQuery(id));
const ASKED = {
  ...{ call: '0'.repeat(18), hash: 'f'.repeat(64), occurrence: 0, dialect: '/chat/completions', parent: null },
  ...{ branch: null, differsAt: null, shared: 0, messages: [], limits: {} },
} as const satisfies AskedCall;
const TAGS = [{ tag: 'main\u001b' }, {}, { tag: 'main\u001b' }];

/** `untrained`: how many calls of each rollout; null leaves it in flight. */
async function lineOf(name: string, trainCalls: string | undefined, untrained: readonly (number | null)[]) {
  const program = { spec: ['x'], fingerprint: 'f'.repeat(64), timeoutSeconds: 9, maxCalls: 9 };
  const settings: RolloutSettings = {
    ...someSettings(),
    program: { ...program, ...(trainCalls !== undefined && { trainCalls }) },
  };
  const store = openFileStore(join(cwd, name), RUN);
  await putRun(store, QUERIES, { settings });
  for (const [index, many] of untrained.entries()) {
    const left = Array.from({ length: many ?? 0 }, (_, i) => i + 1);
    const played = withRecords(store, { end: (end) => ({ ...end, ...(left.length > 0 && { untrained: left }) }) });
    await play(played, {
      ...{ query: QUERIES[index]!, index, settings, verdicts: ['wrong', 'wrong', 'right'] },
      stop: many === null ? null : 'max-turns',
      turn: (turn) => ({ asked: { ...ASKED, ...TAGS[turn - 1] } }),
    });
  }
  const found = await untrainedRollouts(store, aRunRecord(RUN, settings));
  return found && untrainedLine(found);
}

describe('a run whose --train-calls names no call of a rollout', () => {
  test('says of how many, and what the calls of the first are called', async () => {
    expect(await lineOf('tag', 'tag=mian', [2, 3, 3])).toBe(
      'Untrained  --train-calls tag=mian leaves nothing of 2 of 3 rollouts trained; the calls of q2 have "main\\u001b", no tag',
    );
    expect(await lineOf('model', 'model=big', [3, null])).toBe(
      'Untrained  --train-calls model=big leaves nothing of 1 of 1 rollout trained; the calls of q1 have no model',
    );
  });

  test.each([
    ['where some call of each is trained', 'tag=main', [2, 0, 1]],
    ['before a rollout has ended', 'tag=main', [null]],
    ['where nothing was chosen', undefined, [3]],
  ] as const)('says nothing %s', async (name, trainCalls, untrained) => {
    expect(await lineOf(name, trainCalls, untrained)).toBeUndefined();
  });
});
