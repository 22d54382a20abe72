import type { Client } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { openRollouts } from '../../client/temporal/open-rollouts.ts';

/** A server with so many open rollouts in each run; `calls` has the time of each. */
function server(open: number, fail = 0) {
  const calls: number[] = [];
  const client = {
    options: { namespace: 'default' },
    connection: {
      workflowService: {
        async listWorkflowExecutions(asked: { query: string; pageSize: number; nextPageToken?: Uint8Array }) {
          calls.push(performance.now());
          if (calls.length <= fail) throw new Error('away');
          const from = asked.nextPageToken?.[0] ?? 0;
          const run = /EverturnRun = '([^']*)'/.exec(asked.query)![1]!;
          const all = Array.from({ length: open }, (_, i) => ({ execution: { workflowId: `${run}/q${i}/0` } }));
          const to = (from + 1) * asked.pageSize;
          return {
            executions: all.slice(from * asked.pageSize, to),
            nextPageToken: to < open ? Uint8Array.of(from + 1) : new Uint8Array(),
          };
        },
      },
    },
  };
  return { client: client as unknown as Client, calls };
}

describe('the list of open rollouts', () => {
  test('is whole over its pages, and one answer for all who ask at once', async () => {
    const { client, calls } = server(2500);
    const lists = await Promise.all(Array.from({ length: 20 }, () => openRollouts(client, 'first')));
    expect(calls).toHaveLength(3);
    for (const list of lists) expect(list.size).toBe(2500);
    expect(lists[0]!.has('first/q2499/0')).toBe(true);
  });

  test('takes at most two calls a second of a process, over all runs', async () => {
    const { client, calls } = server(1);
    await Promise.all(Array.from({ length: 4 }, (_, i) => openRollouts(client, `run-${i}`)));
    expect(calls).toHaveLength(4);
    expect(calls.at(-1)! - calls[0]!).toBeGreaterThan(1490);
  });

  test('that fails is read again by the next who asks', async () => {
    const { client, calls } = server(1, 1);
    await expect(openRollouts(client, 'first')).rejects.toThrow('away');
    expect((await openRollouts(client, 'first')).size).toBe(1);
    expect(calls).toHaveLength(2);
  });
});
