// Some rollouts of an open run are found without a list: a cluster answers ten lists a second of a namespace, to everybody.

import { describe, expect, test } from 'vitest';
import type { Session } from '../../client/temporal/connection.ts';
import { describeInFlight } from '../../client/temporal/in-flight.ts';

interface Scripted {
  /** Of each open workflow, those that it began; a block has a `~` in its name. */
  readonly children?: Readonly<Record<string, readonly string[]>>;
  readonly continued?: boolean;
}

function sessionOf({ children = {}, continued = false }: Scripted) {
  const calls = { describe: 0, list: 0 };
  const typeOf = (id: string) => (id.includes('~') && !id.includes('/') ? 'block' : 'rollout');
  const workflow = {
    async *list() {
      calls.list++;
      for (let i = 0; i < 100; i++) yield { workflowId: `listed/${i}` };
    },
    getHandle: (id: string) => ({
      async describe() {
        calls.describe++;
        const begun = children[id] ?? [];
        const pendingChildren = begun
          .map((workflowId, i) => ({ workflowId, workflowTypeName: typeOf(workflowId), initiatedId: 5 + i }))
          .toReversed();
        const workflowExecutionInfo = { firstRunId: 'first', execution: { runId: continued ? 'second' : 'first' } };
        return { raw: { pendingChildren, workflowExecutionInfo } };
      },
    }),
  };
  return { session: { client: { workflow } } as unknown as Session, calls };
}

const rollouts = (of: string, count: number) => Array.from({ length: count }, (_, i) => `${of}/${i}`);
const found = async (scripted: Scripted) => {
  const { session, calls } = sessionOf(scripted);
  return { ids: (await describeInFlight(session, 'r', 8)).map(({ workflowId }) => workflowId), calls };
};

describe('the rollouts in flight of a run', () => {
  test('are those that its workflow began first, without a list', async () => {
    const { ids, calls } = await found({ children: { r: rollouts('r', 1000) } });
    expect(ids).toEqual(['r', ...rollouts('r', 8)]);
    expect(calls).toEqual({ describe: 9, list: 0 });
  });

  test('are some of each of its blocks, of which a few are asked', async () => {
    const blocks = Array.from({ length: 20 }, (_, i) => `r~${i}`);
    const children = Object.fromEntries(blocks.map((block) => [block, rollouts(block, 500)]));
    const { ids, calls } = await found({ children: { r: blocks, ...children } });
    expect(ids).toEqual(['r', ...blocks.slice(0, 4), ...blocks.slice(0, 4).flatMap((block) => rollouts(block, 2))]);
    expect(calls).toEqual({ describe: 13, list: 0 });
  });

  test('of one that continued as new are those that it began since; only without one they are listed, once', async () => {
    const begun = await found({ children: { r: ['r/since'] }, continued: true });
    expect([begun.ids, begun.calls.list]).toEqual([['r', 'r/since'], 0]);
    const none = await found({ continued: true });
    expect([none.ids, none.calls.list]).toEqual([['r', ...rollouts('listed', 8)], 1]);
  });

  test('are none of one that has begun nothing', async () => {
    const { ids, calls } = await found({});
    expect([ids, calls.list]).toEqual([['r'], 0]);
  });
});
