// The neutral row against the records it is made of, for any rollout: each list is taken apart again, turn by turn.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { turnReward } from '../../domain/rollout/reward.ts';
import { packedKept } from '../../domain/rollout/kept-sets.ts';
import type { RolloutSettings } from '../../domain/rollout/settings.ts';
import type { EnvironmentRecord } from '../../domain/rollout/environment.ts';
import type { RolloutRecord, Trajectory, VerdictRecord } from '../../domain/rollout/trajectory.ts';
import { applyHumanVerdicts } from '../../domain/samples/human-verdicts.ts';
import { ownTurns } from '../../domain/samples/own-turns.ts';
import { neutralRow } from '../../domain/samples/neutral-row.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { arealTurns, sequenceSample, turnSampleId } from '../../formats/exports/areal.ts';
import { labels } from '../../formats/exports/labels.ts';
import { rows } from '../../formats/exports/rows.ts';
import { turnRecord } from '../records/play.ts';
import { asFloat32, trajectories } from './random-trajectory.ts';

const environment = { name: 'e', credits: true } as EnvironmentRecord;
const ofCredit = (rollout: RolloutRecord): RolloutRecord => ({
  ...rollout,
  settings: { ...rollout.settings, environments: [environment] },
});

/** Each turn as its environment speaks of it: 0 not at all, 1 all masked, else spans of one token, of which the second is masked. */
function withCredit({ rollout, turns, end }: Trajectory, kinds: readonly number[]): Trajectory {
  const played = turns.map(({ record, verdict }, i) => {
    const kind = kinds[i]!;
    const length = record.outputIds.length;
    const spans = [
      { from: 0, to: 1, reward: kind },
      ...(length > 1 ? [{ from: 1, to: 2, train: false as const }] : []),
    ];
    const said = kind < 2 || length === 0 ? {} : { credit: spans, base: end!.turnRewards[i]! - kind };
    const tokenStarts = record.outputIds.map((_, k) => k);
    return {
      record: { ...record, tokenStarts },
      verdict: { ...verdict!, ...said, ...(kind === 1 && { train: false as const }) },
    };
  });
  return { rollout: ofCredit(rollout), turns: played, end };
}

describe('a neutral row', () => {
  test('taken apart turn by turn, it is the records: tokens, float32 logprobs, the version of each token', () => {
    fc.assert(
      fc.property(trajectories, (trajectory) => {
        const row = neutralRow(trajectory);
        const lists = [row.response_mask, row.logprobs, row.versions, row.turn_ids];
        for (const list of lists) expect(list).toHaveLength(row.response_ids.length);
        expect(row.prompt_ids).toEqual(trajectory.turns[0]!.record.contextIds);
        let at = 0;
        for (const [t, { record }] of trajectory.turns.entries()) {
          const feedback = t === 0 ? [] : record.contextIds;
          const [from, to] = [at + feedback.length, at + feedback.length + record.outputIds.length];
          const off = feedback.map(() => [0, 0, -1, -1]);
          expect(row.response_ids.slice(at, from)).toEqual(feedback);
          expect(feedback.map((_, i) => lists.map((list) => list[at + i]))).toEqual(off);
          expect(row.response_ids.slice(from, to)).toEqual(record.outputIds);
          expect(row.logprobs.slice(from, to)).toEqual(asFloat32(record.logprobs));
          const versionAt = (k: number) => record.versions.find(({ start, end }) => start <= k && k < end)!.version;
          expect(row.versions.slice(from, to)).toEqual(record.outputIds.map((_, k) => versionAt(k)));
          expect([...row.turn_ids.slice(from, to), ...row.response_mask.slice(from, to)]).toEqual([
            ...record.outputIds.map(() => t),
            ...record.outputIds.map(() => 1),
          ]);
          expect(row.turn_ends[t]).toBe(to);
          at = to;
        }
        expect(at).toBe(row.response_ids.length);
        expect(row.reward).toBe(row.turn_returns[0]);
        expect(row.turn_rewards).toEqual([...Float32Array.from(trajectory.end!.turnRewards)]);
        const made = row.versions.filter((version) => version >= 0);
        for (const version of made) expect(version >= row.version_start && version <= row.version_end).toBe(true);
      }),
    );
  });

  test('has the set of each sampled token, and does not train those of none; without sets it is as ever', () => {
    fc.assert(
      fc.property(trajectories, (trajectory) => {
        const setsOf = (ids: readonly number[]) => ids.map((id, i) => (i % 3 === 1 ? null : [id, id + 5]));
        const turns = trajectory.turns.map(({ record, verdict }) => {
          const kept = packedKept(setsOf(record.outputIds));
          return { record: { ...record, ...(kept !== '' && { kept }) }, verdict };
        });
        const {
          kept_ids: sets,
          kept_missing: missing,
          response_mask: mask,
          ...rest
        } = neutralRow({ ...trajectory, turns });
        const { response_mask: whole, ...plain } = neutralRow(trajectory);
        expect(rest).toEqual(plain);
        if (!whole.includes(1)) return void expect(sets).toBeUndefined();
        expect(sets).toEqual(
          trajectory.turns.flatMap(({ record }, t) => [
            ...(t === 0 ? [] : record.contextIds.map(() => null)),
            ...setsOf(record.outputIds),
          ]),
        );
        expect(mask).toEqual(sets!.map((set) => (set === null ? 0 : 1)));
        expect(missing ?? 0).toBe(whole.filter((one, i) => one === 1 && mask[i] === 0).length);
      }),
    );
  });

  test('has the rewards of the turns by token, each at a trained one, and trains no token that is masked', () => {
    fc.assert(
      fc.property(trajectories, fc.array(fc.nat(4), { minLength: 5, maxLength: 5 }), (trajectory, kinds) => {
        const made = withCredit(trajectory, kinds);
        const row = neutralRow(made);
        const rewards = row.token_rewards!;
        expect(rewards).toHaveLength(row.response_ids.length);
        const { response_mask: mask, ...rest } = row;
        const { response_mask: whole, ...plain } = neutralRow(trajectory);
        const { token_rewards: _, ...same } = rest;
        const { turnRewards } = made.end!;
        expect({ ...same, turn_rewards: 0 }).toEqual({ ...plain, turn_rewards: 0 });
        const total = turnRewards.reduce((sum, one) => sum + one, 0);
        if (rewards.length > 0) expect(rewards.reduce((sum, one) => sum + one, 0)).toBeCloseTo(total, 4);
        const first = mask.indexOf(1);
        // Before the first trained token there is none to take a reward.
        for (const [i, reward] of rewards.entries())
          if (first >= 0 && i > first && reward !== 0) expect(mask[i]).toBe(1);
        for (const [i, one] of mask.entries()) {
          const turn = made.turns[row.turn_ids[i]!];
          const k = turn && i - (row.turn_ends[row.turn_ids[i]!]! - turn.record.outputIds.length);
          const isMasked = turn && (turn.verdict!.train === false || (turn.verdict!.credit?.[1] && k === 1));
          expect(one).toBe(isMasked ? 0 : whole[i]);
        }
        const { prompt_mask: areal } = sequenceSample(made).data as unknown as { prompt_mask: boolean[] };
        const sampled = (values: readonly unknown[]) => values.filter((_, i) => row.turn_ids[i]! >= 0);
        let at = 0;
        const ofAnswers = made.turns.flatMap(({ record }) => {
          at += record.contextLength + record.outputIds.length;
          return record.outputIds.length > 0 ? areal.slice(at - record.outputIds.length, at) : [];
        });
        expect(ofAnswers).toEqual(sampled(mask).map((one) => one === 0));
        const right = row.turn_success.indexOf(1);
        if (right < 0) return;
        const { labels: given } = JSON.parse(labels.lines(made)[0]!) as { labels: number[] };
        const own = made.turns[right]!.record.outputIds;
        const begin = row.turn_ends[right]! - own.length;
        expect(given.slice(given.length - own.length)).toEqual(own.map((id, k) => (mask[begin + k] === 1 ? id : -100)));
      }),
    );
  });

  test('places a span’s reward at its last token, the rest at the answer’s, and none at a token that is not trained', () => {
    const [one] = fc.sample(
      trajectories.filter(({ turns }) => turns.length > 1 && turns.every(({ record }) => record.outputIds.length > 2)),
      { numRuns: 1, seed: 1 },
    ) as [Trajectory];
    const [first, second] = one.turns.map(({ record }) => record) as [TurnRecord, TurnRecord];
    const ofFirst = (verdicts: readonly Partial<VerdictRecord>[]): Trajectory => {
      const turns = [first, second].map((record, i) => ({
        record: { ...record, tokenStarts: record.outputIds.map((_, k) => k) },
        verdict: { ...one.turns[i]!.verdict!, ...verdicts[i] },
      }));
      const end = { ...one.end!, turnRewards: [1.5, 4], returns: [5.5, 4] };
      return { ...one, rollout: ofCredit(one.rollout), turns, end };
    };
    const placed = (verdicts: readonly Partial<VerdictRecord>[]) => neutralRow(ofFirst(verdicts));
    const [a, b] = [first.outputIds.length, second.outputIds.length];
    const at = (rewards: Readonly<Record<number, number>>) =>
      Array.from({ length: a + second.contextIds.length + b }, (_, i) => rewards[i] ?? 0);
    const last = a + second.contextIds.length + b - 1;
    const credit = [{ from: 0, to: 2, reward: 0.5 }];
    expect(placed([{ base: 1, credit }]).token_rewards).toEqual(at({ 1: 0.5, [a - 1]: 1, [last]: 4 }));
    // The second turn is not trained: its reward is of the token that was trained last.
    expect(placed([{ base: 1, credit }, { train: false }]).token_rewards).toEqual(at({ 1: 0.5, [a - 1]: 5 }));
    const masked = [{ from: 0, to: 2, reward: 0.5, train: false as const }];
    // A person's verdict replaces all rewards of its turn, and no mask.
    const right = one.turns[0]!.verdict!.verdict === 'right';
    const verdict = right ? 'wrong' : 'right';
    const act = { act: 'verdict', of: { turn: 1 }, by: 'a', at: 1, after: null, verdict, reason: '' };
    const trainFalse = { from: 2, to: 3, train: false as const };
    const played = ofFirst([{ base: 1, reward: 1.5, credit: [...credit, trainFalse] }]);
    const judged = applyHumanVerdicts(played, [{ name: 'a', act: act as never }], 'keep') as Trajectory;
    const human = neutralRow(judged);
    expect(human.token_rewards![a - 1]).toBe(Math.fround(turnReward(!right, one.rollout.settings)));
    expect(human.token_rewards!.slice(0, a - 1)).toEqual(at({}).slice(0, a - 1));
    expect(human.response_mask[2]).toBe(0);
    // None before it was trained in its turn: the next one has it.
    const ofSecond = placed([
      { base: 1, credit },
      { base: 3.5, credit: masked },
    ]).token_rewards;
    expect(ofSecond).toEqual(at({ 1: 0.5, [a - 1]: 1, [last - b + 3]: 0.5, [last]: 3.5 }));
    const { token_rewards: rewards, response_mask: mask } = placed([{ base: 1, credit: masked }]);
    expect(rewards).toEqual(at({ 2: 0.5, [a - 1]: 1, [last]: 4 }));
    expect(mask.slice(0, 3)).toEqual([0, 0, 1]);
  });

  test('says that its logprobs are biased where a run allowed that, and no set is known', () => {
    const [{ rollout, turns, end }] = fc.sample(trajectories, { numRuns: 1, seed: 1 }) as [Trajectory];
    const said = (more: Partial<RolloutSettings>) =>
      neutralRow({ rollout: { ...rollout, settings: { ...rollout.settings, temperature: 1, ...more } }, turns, end });
    expect(said({ topP: 0.9, allowBiasedLogprobs: true })).toMatchObject({ biased_logprobs: true });
    for (const more of [{ topP: 0.9 }, { topP: 1, topK: 1e8, allowBiasedLogprobs: true }])
      expect(said(more)).not.toHaveProperty('biased_logprobs');
  });

  test('names the files of the experts of its tokens, those of what was carried over too', () => {
    const [whole] = fc.sample(trajectories, { numRuns: 1, seed: 1 }) as [Trajectory];
    let at = 0;
    const turns = whole.turns.map(({ record, verdict }) => {
      const rows = record.contextLength + record.outputIds.length - 1 - at;
      const slice = {
        sha256: 'ab'.repeat(32),
        bytes: rows,
        start: at,
        rows,
        layers: 1,
        perToken: 1,
        type: 'uint8' as const,
      };
      at += rows;
      return { record: { ...record, experts: [slice] }, verdict };
    });
    const row = neutralRow({ ...whole, turns });
    expect(row.experts!.map(({ path }) => path)[0]).toMatch(/^experts\/ab\/(ab){32}-\d+\.gz$/);
    expect(row.experts!.reduce((sum, { rows }) => sum + rows, 0)).toBe(
      row.prompt_ids.length + row.response_ids.length - 1,
    );
    expect(
      row.experts!.every(({ start }, i, all) => start === (i === 0 ? 0 : all[i - 1]!.start + all[i - 1]!.rows)),
    ).toBe(true);
    if (turns.length > 1) {
      const forked = neutralRow(ownTurns({ ...whole, turns }, 2)!);
      expect(forked.experts).toEqual(row.experts);
      const [first, ...others] = turns;
      const { experts: _, ...without } = first!.record;
      const some = ownTurns({ ...whole, turns: [{ ...first!, record: without }, ...others] }, 2)!;
      expect(neutralRow(some)).toMatchObject({ experts_missing: true });
    }
  });

  test('says that the experts which made its tokens are missing, where a turn says so', () => {
    const [whole] = fc.sample(trajectories, { numRuns: 1, seed: 1 }) as [Trajectory];
    expect(neutralRow(whole)).not.toHaveProperty('experts_missing');
    const turns = whole.turns.map((turn) => ({ ...turn, record: { ...turn.record, expertsMissing: true as const } }));
    expect(neutralRow({ ...whole, turns })).toMatchObject({ experts_missing: true });
  });

  test('AReaL’s turns of two samples never share an id, whatever the queries are called', () => {
    const name = fc.string({
      unit: fc.constantFrom('@', '%', '4', '0', '-', 't', '1', 'q'),
      minLength: 1,
      maxLength: 6,
    });
    const place = fc.tuple(name, fc.nat(11), fc.integer({ min: 1, max: 11 }));
    fc.assert(
      fc.property(place, place, (a, b) => {
        expect(turnSampleId(...a) === turnSampleId(...b)).toBe(JSON.stringify(a) === JSON.stringify(b));
      }),
    );
    expect(arealTurns.needsIds).toBe(true);
  });

  test.each<[string, Partial<TurnRecord>, string]>([
    ['an answer of text alone', { trainable: false }, 'text and no token ids'],
    ['versions with a hole', { versions: [{ version: 1, start: 1, end: 2 }] }, 'version spans'],
    ['versions of fewer tokens', { versions: [] }, 'version spans for 0 tokens'],
    ['a logprob too few', { logprobs: [] }, 'one logprob per output token'],
    ['a logprob that is no number', { logprobs: [Number.NaN, -1, -1] }, 'float32'],
    ['a logprob of minus infinity', { logprobs: [-1, Number.NEGATIVE_INFINITY, -1] }, 'float32'],
    ['a logprob that JSON could not hold', { logprobs: [-1, -1, null as never] }, 'null is not a float32'],
    ['an id beyond int32', { outputIds: [3, 2 ** 31, 5] }, 'token id 2147483648'],
    ['an id below 0', { contextIds: [-1, 2] }, 'token id -1'],
    ['half an id', { outputIds: [3, 4.5, 5] }, 'token id 4.5'],
    ['another context length', { contextLength: 99 }, 'context tokens'],
  ])('%s is refused with the query and the sample, never passed on', (_, part, problem) => {
    const record = {
      ...turnRecord(1, 'text'),
      contextIds: [1, 2],
      contextLength: 2,
      outputIds: [3, 4, 5],
      logprobs: [-1, -1, -1],
    };
    const whole: TurnRecord = { ...record, versions: [{ version: 1, start: 0, end: 3 }], ...part };
    const [any] = fc.sample(trajectories, { numRuns: 1, seed: 1 });
    const verdict = { turn: 1, verdict: 'right' as const, reason: 'scripted', of: '', tookMs: 0 };
    const end = { ...any!.end!, turnRewards: [1], returns: [1], success: [1 as const] };
    const trajectory = { ...any!, turns: [{ record: whole, verdict }], end };
    expect(() => rows.lines(trajectory)).toThrow(expect.objectContaining({ reason: 'record-broken' }));
    expect(() => rows.lines(trajectory)).toThrow(/query "q", sample \d/);
    expect(() => rows.lines(trajectory)).toThrow(problem);
  });
});
