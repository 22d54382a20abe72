// Rollouts of a cancelled run whose next generation no worker has begun: their ends are recorded with the turns that were
// played, as their own workflows would; all others are left alone.

import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import type { Settled } from '../../activities/collection.ts';
import type { ActivityDeps } from '../../activities/deps.ts';
import { createActivities } from '../../activities/index.ts';
import { completeSettings } from '../../domain/run/defaults.ts';
import { rolloutResult, scoredTurns } from '../../domain/rollout/ending.ts';
import { rolloutWorkflowId } from '../../domain/names/ids.ts';
import { type OpenedRollout, turnFacts } from '../../domain/rollout/rollout-facts.ts';
import type { RolloutSettings } from '../../domain/rollout/settings.ts';
import type { TurnFacts } from '../../domain/rollout/turn-facts.ts';
import { openFileStore } from '../../records/file-store.ts';
import { onlyJudge } from '../support/only-judge.ts';
import { scriptedBackend } from '../support/scripted-model.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const out = scratchFolder();

type Rollout = OpenedRollout['rollout'];

/** Turns that are played, of which the last may not be judged. */
interface Played {
  readonly turns: number;
  readonly unjudged?: boolean;
  readonly settings?: Partial<RolloutSettings>;
}

let runs = 0;
/** `waits`: what the server says of it, one answer after the other; the last one for ever. */
async function rig({ turns, unjudged = false, settings = {} }: Played, waits: readonly boolean[]) {
  const run = `r${runs++}`;
  const store = openFileStore(out, run);
  const backend = scriptedBackend({ answer: ({ requestId }) => `turn ${requestId.split('/').at(-1)!}` });
  const asked = [...waits];
  const cancelled: string[] = [];
  let meeting: Promise<never> | undefined;
  const deps: Partial<ActivityDeps> = {
    version: 'test',
    openStore: openFileStore,
    backend: () => meeting ?? Promise.resolve(backend),
    environments: onlyJudge({ judge: async () => ({ verdict: 'wrong', reason: 'scripted' }), close: async () => {} }),
    permit: () => undefined,
    parseRow: () => ({
      ...{ queryId: 'q', prompt: { kind: 'text', text: '2 + 2 = ' }, task: 'math', solutions: ['4'] },
      ...(settings.environments && { environment: 'game' }),
    }),
    parseSettings: (name, given) => completeSettings(name, given),
    isWaiting: async () => (asked.length > 1 ? asked.shift()! : asked[0]!),
    cancelRollout: async (workflowId) => void cancelled.push(workflowId),
    isStopping: async () => false,
    now: () => 7,
  };
  const activities = createActivities(deps as ActivityDeps);
  const inActivity = <A extends unknown[], R>(activity: (...args: A) => Promise<R>, ...args: A) =>
    new MockActivityEnvironment().run(activity as (...args: unknown[]) => Promise<R>, ...args) as Promise<R>;
  const given = { numTurns: 5, rewardBias: 0.25, turnDiscount: 0.5, ...settings };
  const { rollout, reward } = await inActivity(activities.open, { run, out, row: {}, settings: given });
  const played: TurnFacts[] = [];
  for (let turn = 1; turn <= turns; turn++) {
    const generated = await inActivity(activities.generate, { rollout, turn });
    if (generated.noRoom) throw new Error('no room');
    if (unjudged && turn === turns) break;
    const judged = await inActivity(activities.evaluate, { rollout, turn });
    await inActivity(activities.log, { rollout, turn });
    played.push(turnFacts(generated, judged));
  }
  const { query, sample } = rollout;
  return {
    ...{ store, rollout, cancelled, backend },
    wanted: rolloutResult(rollout, played, 'cancelled', null, scoredTurns(played, 'cancelled', reward)),
    finish: () =>
      inActivity(activities.finish, {
        result: rolloutResult(rollout, played, 'max-turns', null, scoredTurns(played, 'max-turns', reward)),
        message: null,
      }),
    generate: (turn: number) => inActivity(activities.generate, { rollout, turn }),
    /** A generation whose model is met for the first time, and says nothing; and its cancellation. */
    hang() {
      meeting = new Promise(() => {});
      const environment = new MockActivityEnvironment();
      const generate = activities.generate as (...args: unknown[]) => Promise<unknown>;
      return { generated: environment.run(generate, { rollout, turn: 1 }), cancel: () => environment.cancel() };
    },
    cancel: (): Promise<Settled[]> =>
      inActivity(activities.cancelWaiting, { run, out, rollouts: [{ unit: 3, query, sample }] }),
  };
}

const end = async ({ store, rollout }: { store: ReturnType<typeof openFileStore>; rollout: Rollout }) =>
  (await store.get('end', rollout))?.record;

describe('a rollout of a cancelled run', () => {
  test.each([0, 1, 2])('that waits after %i turns ends as cancelled with them, and no turn follows', async (turns) => {
    const held = await rig({ turns }, [true]);
    expect(await held.cancel()).toEqual([{ unit: 3, result: held.wanted }]);
    expect(await end(held)).toMatchObject({ outcome: 'cancelled', returns: [], failure: null, finishedAt: 7 });
    expect((await end(held))?.turns).toHaveLength(turns);
    expect((await end(held))?.turnRewards).toEqual(Array.from({ length: turns }, () => -1.25));
    const requests = held.backend.requests.length;
    await held.store.put('result', null, {} as never);
    await expect(held.generate(turns + 1)).rejects.toMatchObject({ type: 'rollout-ended', nonRetryable: true });
    expect(held.backend.requests).toHaveLength(requests);
    expect(held.cancelled).toEqual([]);
    // A second call, after one whose answer was lost.
    expect(await held.cancel()).toEqual([{ unit: 3, result: held.wanted }]);
  });

  test('that waits for a model which hangs at its first contact ends at once', { timeout: 10_000 }, async () => {
    const { generated, cancel } = (await rig({ turns: 0 }, [false])).hang();
    setTimeout(cancel, 200);
    await expect(generated).rejects.toThrow('CANCEL');
  });

  test('that does anything else is left to its own workflow', async () => {
    const held = await rig({ turns: 1 }, [false]);
    expect(await held.cancel()).toEqual([]);
    expect(await end(held)).toBeUndefined();
  });

  test('whose last turn is not judged is left to its own workflow', async () => {
    const held = await rig({ turns: 2, unjudged: true }, [true]);
    expect(await held.cancel()).toEqual([]);
    expect(await end(held)).toBeUndefined();
  });

  test('whose environment has to give something back is left to its own workflow', async () => {
    const game = { name: 'game', begins: false, ends: true, door: 'command', spec: ['x'], timeoutSeconds: 1 };
    const environments = [game] as unknown as RolloutSettings['environments'] & object;
    const held = await rig({ turns: 0, settings: { environments } }, [true]);
    expect(await held.cancel()).toEqual([]);
    expect(await end(held)).toBeUndefined();
  });

  test('whose generation began while its end was recorded is cancelled too', async () => {
    const held = await rig({ turns: 1 }, [true, false]);
    expect(await held.cancel()).toEqual([{ unit: 3, result: held.wanted }]);
    expect(held.cancelled).toEqual([rolloutWorkflowId(held.rollout)]);
  });

  test('that had ended otherwise keeps its end', async () => {
    const held = await rig({ turns: 1 }, [true]);
    await held.finish();
    const [settled] = await held.cancel();
    expect(settled).toMatchObject({ unit: 3, result: { outcome: 'complete', stopReason: 'max-turns' } });
  });
});
