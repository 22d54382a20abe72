// A rollout that is none of ours, but ends in every way that one can: played to an end, failed, cancelled with and
// without a record, terminated, failed as a workflow. It keeps in the store what a rollout would have kept.

import type { RolloutResult, StopReason } from '../../domain/rollout/ending.ts';
import type { ChildClosing } from './effects.ts';
import { expectedResult, type Failed, type JudgedTurn } from './expected-result.ts';
import { queryOf } from './names.ts';
import { turnScript } from './plan.ts';
import { named } from './random.ts';
import { applicationFailure } from './wire.ts';
import type { Closing, Execution, World } from './world.ts';

export function standIn(
  world: World,
  workflowId: string,
  { index, sample }: { readonly index: number; readonly sample: number },
  onClosed: (closing: ChildClosing) => void,
): Execution {
  const { clock, random, plan } = world;
  const query = queryOf(index);
  let closing: Closing | undefined;

  const close = (how: Closing, rest: Partial<ChildClosing> = {}) => {
    if (closing) return;
    closing = how;
    world.trace(() => `${workflowId} ■ ${how}, a stand-in`);
    onClosed({ how, ...rest });
  };
  const finish = (result: RolloutResult) => {
    const kept = world.store.open(query, sample);
    kept.end ??= result;
    return kept.end;
  };
  const playTurns = (most: number): { turns: JudgedTurn[]; stop: StopReason } => {
    const kept = world.store.open(query, sample);
    const turns: JudgedTurn[] = [];
    for (let turn = 1; turn <= most; turn++) {
      const script = turnScript(plan, query, sample, turn);
      if (script.noRoom && !kept.turns[turn - 1]) return { turns, stop: 'context-length' };
      const { outputTokens, version, verdict, reason } = script;
      if (!kept.turns[turn - 1]) kept.asked[turn - 1] = (kept.asked[turn - 1] ?? 0) + 1;
      const stored = (kept.turns[turn - 1] ??= { outputTokens, version, verdict: null, logged: false });
      stored.verdict ??= { verdict, reason };
      stored.logged = true;
      turns.push({ outputTokens, ...stored.verdict });
      if (stored.verdict.verdict === 'undecided') return { turns, stop: 'undecided' };
      if (stored.verdict.verdict === 'right' && plan.limits.stop === 'success') return { turns, stop: 'success' };
    }
    return { turns, stop: 'max-turns' };
  };
  const end = (turns: readonly JudgedTurn[], stop: StopReason, failed: Failed | null = null) =>
    finish(expectedResult(plan, { query, sample }, turns, stop, failed));

  clock.after(random.int(10, 30_000), () => {
    if (closing) return;
    const { numTurns } = plan.limits;
    switch (random.pick(['played', 'played', 'played', 'played', 'failed', 'broken', 'terminated', 'forgotten'])) {
      case 'played': {
        const { turns, stop } = playTurns(numTurns);
        return close('completed', { result: end(turns, stop) });
      }
      case 'failed': {
        const { turns, stop } = playTurns(random.int(0, numTurns - 1));
        return close('completed', {
          result:
            stop === 'max-turns'
              ? end(turns, 'failed', { reason: 'server-gone', boundary: 'model' })
              : end(turns, stop),
        });
      }
      case 'broken':
        return close('failed', {
          failure: applicationFailure(
            'bad-row',
            true,
            named(plan.seed, workflowId).pick([undefined, 'dataset', 'store']),
          ),
        });
      case 'terminated':
        return close('terminated');
      default:
        return close('cancelled');
    }
  });
  return {
    workflowId,
    get closing() {
      return closing;
    },
    tasks: [],
    deliver() {},
    cancel() {
      if (closing) return false;
      clock.after(random.int(0, 3000), () => {
        if (closing) return;
        if (random.chance(0.2)) return close('cancelled');
        const { turns, stop } = playTurns(random.int(0, plan.limits.numTurns - 1));
        const result = end(turns, stop === 'max-turns' ? 'cancelled' : stop);
        if (result.outcome === 'cancelled' && random.chance(0.8)) close('cancelled');
        else close('completed', { result });
      });
      return true;
    },
    terminate: () => close('terminated'),
  };
}
