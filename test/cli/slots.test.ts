// The generations that workers take at once, against the rollouts that a run may have in flight.

import { describe, expect, test } from 'vitest';
import { slotsText, workersText } from '../../cli/view/servers.ts';
import type { Session } from '../../client/temporal/connection.ts';
import { workerIdentity, workersOf } from '../../client/temporal/workers.ts';

const seconds = () => Date.now() / 1000;
/** A server that reports these workers, each with the seconds since its last poll. */
function server(...pollers: readonly (readonly [identity: string, agoS: number])[]): Session {
  const client = {
    withDeadline: async (_: number, call: () => Promise<unknown>) => call(),
    workflowService: {
      describeTaskQueue: async () => ({
        pollers: pollers.map(([identity, ago]) => ({ identity, lastAccessTime: { seconds: seconds() - ago } })),
      }),
    },
  };
  return { client, namespace: 'default', address: '', close: async () => {} } as unknown as Session;
}

describe('the slots of a cluster', () => {
  test('are those of its live workers, each counted once', async () => {
    const session = server(['1@a, 64 slots', 1], ['1@a, 64 slots', 30], ['1@b, 128 slots', 2], ['9@c, 500 slots', 200]);
    expect(await workersOf(session)).toEqual({ workers: 2, slots: 192 });
    expect(await workersOf(server([workerIdentity(32), 0]))).toEqual({ workers: 1, slots: 32 });
    expect(await workersOf(server())).toEqual({ workers: 0, slots: 0 });
  });

  test.each(['1@a', '', '1@a, many slots', '1@a, 1234567 slots'])(
    'are unknown where a worker does not report them: %j',
    async (identity) => {
      expect(await workersOf(server(['1@b, 64 slots', 1], [identity, 1]))).toBeUndefined();
    },
  );

  test('are named where a run may have more in flight, with what to do, and only there', () => {
    const workers = { workers: 3, slots: 192 };
    expect(slotsText(10_000, workers)).toMatch(/^10,000 rollouts may be in flight, and 3 workers take 192 generations/);
    expect(slotsText(10_000, workers)).toContain('everturn worker --slots');
    expect(slotsText(65, { workers: 1, slots: 64 })).toContain('1 worker takes 64 generations at once');
    for (const unknown of [null, undefined, { workers: 0, slots: 0 }])
      expect(slotsText(10_000, unknown)).toBeUndefined();
    expect(slotsText(192, workers)).toBeUndefined();
    expect(slotsText(null, workers)).toBeUndefined();
  });

  test('are compared with what a run has in flight when it is started, and none are named on a cluster', async () => {
    const few = server(['1@a, 2 slots', 1]);
    expect(await workersText({ session: few, local: false }, 60)).toMatch(
      /^60 rollouts .* 1 worker takes 2 generations/,
    );
    expect(await workersText({ session: few, local: false }, 2)).toBeUndefined();
    expect(await workersText({ session: server(), local: false }, 1)).toMatch(/^No worker is up: .*`everturn worker`/);
    // Its own has just been started.
    expect(await workersText({ session: server(), local: true }, 1)).toBeUndefined();
  });
});
