// Rollouts in flight survive an upgrade only because the workflows of today do again, command by command, what is in their
// histories. Here all recorded histories are replayed, without a server.

import { Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { recordedHistories } from '../histories/history-file.ts';
import { quietRuntime } from '../support/runtime.ts';

const recorded = recordedHistories();
// Workflows that fail are warned of, each at length.
beforeAll(quietRuntime);

describe('the recorded histories', () => {
  test('are few and small: a path through the workflows each', () => {
    expect(recorded.length).toBeLessThanOrEqual(15);
    expect(recorded.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(500_000);
  });

  test('replay with the code of today', async () => {
    const inputs = recorded.map(({ name, history }) => ({ workflowId: name, history }));
    const ends: [string, Error | undefined][] = [];
    const results = Worker.runReplayHistories({ workflowBundle: { codePath: inject('workflowBundle') } }, inputs);
    for await (const { workflowId, error } of results) ends.push([workflowId, error]);
    expect(ends).toEqual(recorded.map(({ name }) => [name, undefined]));
  });

  test('are refused where an activity is missing, so that a replay proves something', async () => {
    const { name, history } = recorded.find((one) => one.name.endsWith('rollout-right-at-once'))!;
    const events = history.events.filter((event) => !('activityTaskScheduledEventAttributes' in event));
    const options = { workflowBundle: { codePath: inject('workflowBundle') } };
    await expect(Worker.runReplayHistory(options, { events }, name)).rejects.toThrow();
  });

  test('hold no word of the transcript', () => {
    // A user's own queue gets its calls through the history.
    const texts = recorded
      .filter(({ name }) => !/rollout-queue/.test(name))
      .map(({ history }) => JSON.stringify(history));
    const payloads = texts.flatMap((text) => [...text.matchAll(/"data":"([^"]*)"/g)]).map(([, data]) => data!);
    const said = payloads.map((data) => Buffer.from(data, 'base64').toString()).join('\n');
    expect(said).toContain('rollout');
    expect(said).not.toContain('boxed');
  });
});
