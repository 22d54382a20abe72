// Complete trajectories of any tokens, logprobs, versions and verdicts, answers of no token among them.

import fc from 'fast-check';
import { discountedReturns, turnRewards } from '../../domain/rollout/reward.ts';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';
import type { Finish, TurnRecord } from '../../domain/rollout/turn.ts';
import { aQuery, RUN, someSettings, turnRecord } from '../records/play.ts';

/** As an export has them: float32, with one zero. */
export const asFloat32 = (values: readonly number[]): number[] => Array.from(values, (value) => Math.fround(value) + 0);

const ids = (least: number) => fc.array(fc.nat(200_000), { minLength: least, maxLength: 8 });
const turn = fc.record({
  contextIds: ids(1),
  parts: fc.array(
    fc.tuple(
      fc.nat(9),
      fc.array(
        fc.tuple(
          fc.nat(200_000),
          fc.oneof(fc.double({ min: -50, max: 0, noNaN: true }), fc.constantFrom(0, -0, -1e-60)),
        ),
        { minLength: 1, maxLength: 4 },
      ),
    ),
    { maxLength: 3 },
  ),
  finish: fc.constantFrom<Finish>('stop', 'length', 'abort'),
  right: fc.boolean(),
});

export const trajectories = fc
  .tuple(fc.array(turn, { minLength: 1, maxLength: 5 }), fc.nat(3))
  .map(([turns, sample]): Trajectory => {
    const settings = someSettings({ rewardScaling: 0.3, rewardBias: 0.1, turnDiscount: 0.7 });
    const success = turns.map(({ right }) => (right ? 1 : 0) as 0 | 1);
    const rewards = turnRewards(success, settings);
    let length = 0;
    const played = turns.map(({ contextIds, parts, finish, right }, i) => {
      const outputs = parts.flatMap(([, tokens]) => tokens);
      let at = 0;
      const versions = parts.map(([version, tokens]) => ({ version, start: at, end: (at += tokens.length) }));
      const contextLength = length + contextIds.length;
      length = contextLength + outputs.length;
      const record: TurnRecord = {
        ...turnRecord(i + 1, 'text'),
        ...{ contextIds, contextLength, finish, versions },
        outputIds: outputs.map(([id]) => id),
        logprobs: outputs.map(([, logprob]) => logprob),
        versionStart: versions[0]?.version ?? 3,
        versionEnd: versions.at(-1)?.version ?? 3,
      };
      const verdict = {
        turn: i + 1,
        verdict: right ? ('right' as const) : ('wrong' as const),
        reason: 'scripted',
        of: '',
        tookMs: 0,
      };
      return { record, verdict };
    });
    const prompt = { kind: 'messages' as const, messages: [{ role: 'user', content: 'What?' }] };
    return {
      rollout: { run: RUN, query: aQuery('q', { prompt }), index: 0, sample, attempt: 1, settings, birthTime: 5 },
      turns: played,
      end: {
        outcome: 'complete',
        stopReason: 'max-turns',
        failure: null,
        turnRewards: rewards,
        returns: discountedReturns(rewards, settings.turnDiscount),
        success,
        turns: [],
        finishedAt: 0,
      },
    };
  });
