// What the fake activities do: the little of each that the workflows rely on. Generation is at least once; what is
// recorded stays, and whoever comes later gets it back. A body is begun once and then either done or abandoned.

import type { RolloutResult } from '../../domain/rollout/ending.ts';
import { rolloutWorkflowId, type TrajectoryReference } from '../../domain/names/ids.ts';
import type { Generated, OpenedRollout } from '../../domain/rollout/rollout-facts.ts';
import type { Verdict } from '../../domain/rollout/verdict.ts';
import type { CollectionResult, RolloutInput } from '../../domain/run/messages.ts';
import type { Accepted, PageInput, SettleInput, Settled, PagedUnit } from '../../activities/collection.ts';
import { range, turnScript } from './plan.ts';
import type { StoredTurn } from './store.ts';
import { must, sameJson } from './breach.ts';
import { OUT, queryOf, RUN } from './names.ts';
import type { World } from './world.ts';

export interface Body {
  /** `undefined`: not yet; ask again later. */
  done(): unknown;
  abandon(): void;
}
export const NOT_YET = Symbol('not yet');

export function body(world: World, type: string, args: readonly unknown[]): Body {
  const make = BODIES[type];
  must(make !== undefined, () => `there is no activity ${type}`);
  return make(world, args[0] as never);
}

const plain = (done: () => unknown): Body => ({ done, abandon: () => {} });

const BODIES: Readonly<Record<string, (world: World, input: never) => Body>> = {
  open: (world, { index = 0, sample = 0 }: RolloutInput) =>
    plain((): OpenedRollout => {
      const { limits, reward, task } = world.plan;
      const query = queryOf(index);
      world.store.open(query, sample);
      return { rollout: { out: OUT, run: RUN, query, sample, attempt: 1 }, limits, reward, title: query, task };
    }),

  generate: (world, { rollout, turn }: TurnInput) => {
    const kept = keptOf(world, rollout);
    const facts = ({ outputTokens, version }: StoredTurn): Generated => ({
      noRoom: false,
      turn,
      outputTokens,
      contextTokens: 10 * turn,
      finish: 'stop',
      versionStart: version,
      versionEnd: version,
      hash: '',
    });
    const there = kept.turns[turn - 1];
    if (there) return plain(() => facts(there));
    must(
      kept.turns.length === turn - 1 && kept.turns.every((t) => t.verdict !== null),
      () => `turn ${turn} of ${rollout.query} is generated before all turns before it were judged`,
    );
    const { noRoom, outputTokens, version } = turnScript(world.plan, rollout.query, rollout.sample, turn);
    if (noRoom) return plain((): Generated => ({ noRoom: true, contextTokens: 10 * turn }));
    kept.asked[turn - 1] = (kept.asked[turn - 1] ?? 0) + 1;
    const lose = () => void (kept.lost[turn - 1] = (kept.lost[turn - 1] ?? 0) + 1);
    return {
      done() {
        if (kept.turns[turn - 1]) lose();
        return facts((kept.turns[turn - 1] ??= { outputTokens, version, verdict: null, logged: false }));
      },
      abandon: lose,
    };
  },

  evaluate: (world, { rollout, turn }: TurnInput) =>
    plain((): Verdict => {
      const kept = turnOf(world, rollout, turn);
      const { verdict, reason } = turnScript(world.plan, rollout.query, rollout.sample, turn);
      return (kept.verdict ??= { verdict, reason });
    }),

  log: (world, { rollout, turn }: TurnInput) =>
    plain(() => {
      for (const t of range(turn)) {
        const kept = turnOf(world, rollout, t + 1);
        must(kept.verdict !== null, () => `turn ${t + 1} of ${rollout.query} is logged before it was judged`);
      }
      turnOf(world, rollout, turn).logged = true;
    }),

  finish: (world, { result }: { readonly result: RolloutResult }) =>
    plain(() => {
      const kept = keptOf(world, result.trajectory);
      for (const t of range(result.turns)) turnOf(world, result.trajectory, t + 1).logged = true;
      kept.end ??= result;
      return sameJson(kept.end, result) ? null : kept.end;
    }),

  accept: (world) =>
    plain((): Accepted => {
      const { queries, samples, limits } = world.plan;
      return { queries, samples, numTurns: limits.numTurns };
    }),

  page: (world, { from, count, samples }: PageInput) =>
    plain((): PagedUnit[] => {
      const total = world.plan.queries * world.plan.samples;
      must(from < total && samples === world.plan.samples, () => `page ${from} of ${total} does not exist`);
      // Pages are short here, so that a run has several.
      return range(Math.min(count, total - from, 3)).map((i) => {
        const unit = from + i;
        const index = Math.floor(unit / samples);
        const sample = unit % samples;
        const query = queryOf(index);
        return { unit, index, sample, query, title: query, ended: world.store.rollout(query, sample)?.end ?? null };
      });
    }),

  settle: (world, { rollouts }: SettleInput) =>
    plain((): Settled[] | typeof NOT_YET => {
      const settled = rollouts.flatMap(({ unit, query, sample }): Settled[] => {
        const execution = world.executions.get(rolloutWorkflowId({ run: RUN, query, sample, attempt: 1 }));
        if (execution && execution.closing === undefined) return [];
        const end = world.store.rollout(query, sample)?.end;
        return [{ unit, result: end ?? unrecorded(query, sample, execution?.closing === 'cancelled') }];
      });
      return settled.length > 0 ? settled : NOT_YET;
    }),

  conclude: (world, { result }: { readonly result: CollectionResult }) =>
    plain(() => {
      world.store.result ??= result;
    }),
};

interface TurnInput {
  readonly rollout: TrajectoryReference;
  readonly turn: number;
}

function keptOf(world: World, { query, sample }: TrajectoryReference) {
  const kept = world.store.rollout(query, sample);
  must(kept !== undefined, () => `${query}/${sample} is played before it was opened`);
  return kept;
}

function turnOf(world: World, rollout: TrajectoryReference, turn: number): StoredTurn {
  const kept = keptOf(world, rollout).turns[turn - 1];
  must(kept !== undefined, () => `turn ${turn} of ${rollout.query} is used before it was generated`);
  return kept;
}

/** A rollout that closed before it could record its end. */
export function unrecorded(query: string, sample: number, cancelled: boolean): RolloutResult {
  const trajectory = { out: OUT, run: RUN, query, sample, attempt: 1 };
  const nothing = { turns: 0, returns: [], success: [], tokens: 0, trajectory };
  return cancelled
    ? { outcome: 'cancelled', stopReason: 'cancelled', reason: null, ...nothing }
    : { outcome: 'failed', stopReason: 'failed', reason: 'terminated', boundary: 'temporal', ...nothing };
}
