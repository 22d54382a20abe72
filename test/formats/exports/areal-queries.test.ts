// areal-single-step.json holds what `MathSingleStepAgent.collect_trajectory` of AReaL (commit 820ca498b72d) made of the same
// answers. What it drops by success_rate_lb and success_rate_ub, the filter over groups leaves out.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { successOf } from '../../../domain/rollout/ending.ts';
import { groupLabels, NO_FILTER, scoredMember, whyLeftOut } from '../../../domain/samples/group.ts';
import { turnReward } from '../../../domain/rollout/reward.ts';
import type { RolloutSettings } from '../../../domain/rollout/settings.ts';
import type { Trajectory } from '../../../domain/rollout/trajectory.ts';
import type { Finish } from '../../../domain/rollout/turn.ts';
import { arealQueries } from '../../../formats/exports/areal.ts';
import { exporterNamed, sequencesFor } from '../../../formats/exports/index.ts';
import { aQuery, RUN, someSettings, turnRecord } from '../../records/play.ts';

interface Answer {
  readonly outputIds: readonly number[];
  readonly logprobs: readonly number[];
  readonly finish: Finish;
  readonly versionStart: number;
  readonly versionEnd: number;
  readonly success: 0 | 1;
}
interface Case {
  readonly query: string;
  readonly prompt: readonly number[];
  readonly rates: readonly [number, number];
  readonly settings: Partial<RolloutSettings>;
  readonly answers: readonly Answer[];
  readonly sample: { readonly keys: readonly string[]; readonly data: Record<string, unknown> } | null;
}

const cases = JSON.parse(
  readFileSync(new URL('../../fixtures/areal-single-step.json', import.meta.url), 'utf8'),
) as readonly Case[];

function trajectoryOf(
  { query, prompt, settings: part }: Case,
  { success, ...answer }: Answer,
  sample: number,
): Trajectory {
  const settings = someSettings(part);
  const reward = turnReward(success === 1, settings);
  const record = { ...turnRecord(1, 'x'), ...answer, turn: 1, contextIds: prompt, contextLength: prompt.length };
  const verdict = success === 1 ? 'right' : 'wrong';
  return {
    rollout: { run: RUN, query: aQuery(query), index: 0, sample, attempt: 1, settings, birthTime: 1000 - sample },
    turns: [{ record, verdict: { turn: 1, verdict, reason: 'scripted', of: '', tookMs: 0 } }],
    end: {
      outcome: 'complete',
      stopReason: 'max-turns',
      failure: null,
      turnRewards: [reward],
      returns: [reward],
      success: [successOf(verdict)],
      turns: [],
      finishedAt: 0,
    },
  };
}

const rolloutsOf = (each: Case) => each.answers.map((answer, sample) => trajectoryOf(each, answer, sample));

describe('a sample of all answers to a query', () => {
  test('is, value for value, the one that AReaL’s single-step agent makes, and it keeps the same queries', () => {
    const left = { kept: 0, dropped: 0 };
    const encoder = arealQueries.open!();
    const lines: string[] = [];
    for (const each of cases) {
      const members = rolloutsOf(each);
      const labels = groupLabels(members.map(({ end }) => scoredMember(end)));
      const why = whyLeftOut(labels, { ...NO_FILTER, successRate: each.rates }, members.length);
      expect(why, each.query).toBe(each.sample ? null : 'success-rate');
      left[why ? 'dropped' : 'kept']++;
      if (why) continue;
      for (const member of members) lines.push(...encoder.add(member, { group: each.query }).map(String));
    }
    lines.push(...encoder.end().map(String));
    expect(left.kept).toBeGreaterThan(15);
    expect(left.dropped).toBeGreaterThan(15);
    const wanted = cases.flatMap(({ sample }) => sample ?? []);
    expect(lines).toHaveLength(wanted.length);
    for (const [i, line] of lines.entries()) {
      const { metadata, ...made } = JSON.parse(line);
      expect(metadata).toEqual({});
      // The original takes the time when the query began; here it is the first of its rollouts.
      const birth = 1001 - made.seqlens.rewards[0].length;
      const { keys, data, ...rest } = wanted[i]!;
      expect({ ...made, keys: [...made.keys].sort() }).toEqual({
        ...rest,
        keys: [...keys].sort(),
        data: { ...data, birth_time: [birth] },
      });
    }
  });

  test('is what an agent of single steps exports, and it takes rollouts of one turn only', () => {
    expect(sequencesFor({ settings: { stop: 'success' }, agent: { sampleOf: 'query' } })).toBe('query');
    expect(exporterNamed('areal', 'query')).toBe(arealQueries);
    const [one] = rolloutsOf(cases[0]!) as [Trajectory];
    const first = one.turns[0]!.record;
    const second = {
      ...first,
      turn: 2,
      contextIds: [1],
      contextLength: first.contextLength + first.outputIds.length + 1,
    };
    const two = { ...one, turns: [...one.turns, { ...one.turns[0]!, record: second }] };
    const ended = { ...two, end: { ...two.end!, returns: [1, 1], success: [1, 1] as const, turnRewards: [1, 1] } };
    expect(() => arealQueries.open!().add(ended, { group: 'g' })).toThrow('2 turns');
  });
});
