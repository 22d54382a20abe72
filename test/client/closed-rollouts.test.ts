import type { Client } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { closedRollouts } from '../../client/temporal/runs.ts';

/** A server with these workflows; `woken` has the ids that a signal reached. */
function server(workflows: Readonly<Record<string, readonly [status: string, events: number]>>) {
  const woken: string[] = [];
  const getHandle = (id: string) => ({
    async describe() {
      const [name, historyLength] = workflows[id]!;
      return { status: { name }, historyLength };
    },
    signal: async () => void woken.push(id),
  });
  return { client: { workflow: { getHandle } } as unknown as Client, woken };
}

describe('the closed rollouts of a run', () => {
  test('are those that are not running; one without a first task gets one, and no other is disturbed', async () => {
    const { client, woken } = server({
      'r/ended/0': ['COMPLETED', 40],
      'r/cancelled/0': ['CANCELLED', 3],
      'r/playing/0': ['RUNNING', 12],
      'r/scheduled/0': ['RUNNING', 2],
      'r/orphan/0': ['RUNNING', 1],
    });
    const ids = ['r/ended/0', 'r/cancelled/0', 'r/playing/0', 'r/scheduled/0', 'r/orphan/0'];
    expect([...(await closedRollouts(client, 'r', ids))]).toEqual([
      ['r/ended/0', 'other'],
      ['r/cancelled/0', 'cancelled'],
    ]);
    expect(woken).toEqual(['r/orphan/0']);
  });
});
