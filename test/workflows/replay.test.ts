// Rollouts in flight survive an upgrade only because the workflows of today do again, command by command, what is
// in their histories. Here all recorded histories are replayed, without a server, and it is shown that they are
// enough: every block of the workflows runs in some replay, and workflows that do something else are caught.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type RecordedHistory, recordedHistories } from '../histories/history-file.ts';
import { alteredBundle } from '../support/altered-bundle.ts';
import { quietRuntime } from '../support/runtime.ts';
import { coverWorkflows, type Covered } from '../support/workflow-coverage.ts';
import { ALTERED, HARMLESS, NEVER_REPLAYED } from './replay-cases.ts';

const ROOT = join(import.meta.dirname, '../..');
const recorded = recordedHistories();
/** For bundles that differ from today's in no command. */
const everyEighth = recorded.filter((_, i) => i % 8 === 0);
const folder = mkdtempSync(join(tmpdir(), 'everturn-replay-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
// Workflows that are caught are warned of, each at length.
beforeAll(quietRuntime);

/** By name, what each replay ended with. */
async function replayed(
  bundle: string,
  histories: readonly RecordedHistory[],
): Promise<Map<string, Error | undefined>> {
  const inputs = histories.map(({ name, history }) => ({ workflowId: name, history }));
  const ends = new Map<string, Error | undefined>();
  const results = Worker.runReplayHistories({ workflowBundle: { codePath: bundle } }, inputs);
  for await (const { workflowId, error } of results) ends.set(workflowId, error);
  return ends;
}

describe('the recorded histories', () => {
  let ends: Map<string, Error | undefined>;
  let covered: Covered;
  beforeAll(async () => {
    const coverage = await coverWorkflows(inject('workflowBundle'));
    ends = await replayed(inject('workflowBundle'), recorded);
    covered = await coverage.end('workflows');
  });

  test('are few and small: a path through the workflows each', () => {
    expect(recorded.length).toBeLessThanOrEqual(72);
    expect(recorded.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(2_000_000);
  });

  test.each(recorded.map(({ name }) => name))('replays with the code of today: %s', (name) => {
    expect(ends.has(name)).toBe(true);
    expect(ends.get(name)).toBeUndefined();
  });

  test('run every block of the workflows, those aside that no replay can run', () => {
    expect(covered.blocks).toBeGreaterThan(150);
    const excused = (place: string, code: string) =>
      NEVER_REPLAYED.some(
        (known) => (known.file?.test(/\/([^/]+)\.ts:/.exec(place)![1]!) ?? true) && known.code.test(code),
      );
    expect(covered.unrun.filter(({ place, code }) => !excused(place, code))).toEqual([]);
  });

  test('hold no word of the transcript', () => {
    // A user's own queue gets its calls through the history.
    const texts = recorded
      .filter(({ name }) => !/rollout-queue/.test(name))
      .map(({ history }) => JSON.stringify(history));
    const payloads = texts.flatMap((text) => [...text.matchAll(/"data":"([^"]*)"/g)]).map(([, data]) => data!);
    const said = payloads.map((data) => Buffer.from(data, 'base64').toString()).join('\n');
    expect(payloads.length).toBeGreaterThan(1000);
    expect(said).toContain('rollout-right-at-once');
    expect(said).not.toContain('boxed');
  });
});

describe('workflows that would do something else are caught:', () => {
  const bundleOf = async (...alterations: Parameters<typeof alteredBundle>[0]) => {
    const path = join(mkdtempSync(join(folder, 'bundle-')), 'workflow-bundle.js');
    writeFileSync(path, await alteredBundle(alterations, { plain: readFileSync(inject('workflowBundle'), 'utf8') }));
    return path;
  };

  test.each(ALTERED)('$what', async ({ caughtBy, alterations }) => {
    const histories = recorded.filter(({ name }) => caughtBy.test(name));
    expect(histories).not.toEqual([]);
    const ends = await replayed(await bundleOf(...alterations), histories);
    expect([...ends.values()].filter(Boolean)).not.toEqual([]);
  });

  test('not those whose every file was compiled anew and put into the bundle as it was', async () => {
    const files = ['workflows', 'domain'].flatMap((room) =>
      readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' }).map((f) => `${room}/${f}`),
    );
    const bundle = readFileSync(inject('workflowBundle'), 'utf8');
    const bundled = files.filter((file) => bundle.includes(`"./${file}"`));
    expect(bundled.length).toBeGreaterThan(20);
    const same = bundled
      .map((file) => readFileSync(join(ROOT, file), 'utf8'))
      .map((from, i) => ({ file: bundled[i]!, from, to: from }));
    const ends = await replayed(await bundleOf(...same), everyEighth);
    expect([...ends.values()].filter(Boolean)).toEqual([]);
  });

  test('not those that only wait longer or are called otherwise', async () => {
    const ends = await replayed(await bundleOf(...HARMLESS), recorded.slice(0, 40));
    expect([...ends.values()].filter(Boolean)).toEqual([]);
  });
});
