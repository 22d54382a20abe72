// The neutral row against the records it is made of, for any rollout: each list is taken apart again, turn by turn.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { neutralRow } from '../../domain/neutral-row.ts';
import { discountedReturns, turnRewards } from '../../domain/reward.ts';
import type { Trajectory } from '../../domain/trajectory.ts';
import type { Finish, TurnRecord } from '../../domain/turn.ts';
import { arealTurns, turnSampleId } from '../../exporters/areal-turns.ts';
import { nemoGym } from '../../exporters/nemo-gym.ts';
import { rows } from '../../exporters/rows.ts';
import { aQuery, RUN, someSettings, turnRecord } from '../storage/play.ts';

const ids = (least: number) => fc.array(fc.nat(200_000), { minLength: least, maxLength: 8 });
const turn = fc.record({
  contextIds: ids(1),
  parts: fc.array(
    fc.tuple(
      fc.nat(9),
      fc.array(fc.tuple(fc.nat(200_000), fc.double({ min: -50, max: 0, noNaN: true })), { minLength: 1, maxLength: 4 }),
    ),
    { maxLength: 3 },
  ),
  finish: fc.constantFrom<Finish>('stop', 'length', 'abort'),
  right: fc.boolean(),
});

const trajectories = fc
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
        rewards: discountedReturns(rewards, settings.turnDiscount),
        success,
        turns: [],
        finishedAt: 0,
      },
    };
  });

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
          expect(row.logprobs.slice(from, to)).toEqual([...Float32Array.from(record.logprobs)]);
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

  test('an answer’s prompt in NeMo-Gym’s items begins with all tokens before it, which NeMo-RL asserts', () => {
    interface Item {
      readonly role: string;
      readonly prompt_token_ids: readonly number[];
      readonly generation_token_ids: readonly number[];
      readonly generation_log_probs: readonly number[];
    }
    fc.assert(
      fc.property(trajectories, (trajectory) => {
        const line = JSON.parse(nemoGym.lines(trajectory)[0]!) as { response: { output: Item[] }; reward: number };
        let seen: readonly number[] = [];
        const answers = line.response.output.filter(({ role }) => role === 'assistant');
        expect(answers).toHaveLength(trajectory.turns.length);
        for (const {
          prompt_token_ids: prompt,
          generation_token_ids: made,
          generation_log_probs: logprobs,
        } of answers) {
          expect(prompt.slice(0, seen.length)).toEqual(seen);
          expect(logprobs).toHaveLength(made.length);
          seen = [...prompt, ...made];
        }
        const row = neutralRow(trajectory);
        expect(seen).toEqual([...row.prompt_ids, ...row.response_ids]);
      }),
    );
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
    expect(arealTurns.forTraining).toBe(true);
  });

  test.each<[string, Partial<TurnRecord>, string]>([
    ['an answer of text alone', { trainable: false }, 'text and no token ids'],
    ['versions with a hole', { versions: [{ version: 1, start: 1, end: 2 }] }, 'version spans'],
    ['versions of fewer tokens', { versions: [] }, 'version spans for 0 tokens'],
    ['a logprob too few', { logprobs: [] }, 'one logprob per output token'],
    ['a logprob that is no number', { logprobs: [Number.NaN, -1, -1] }, 'float32'],
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
    const end = { ...any!.end!, turnRewards: [1], rewards: [1], success: [1 as const] };
    const trajectory = { ...any!, turns: [{ record: whole, verdict }], end };
    expect(() => rows.lines(trajectory)).toThrow(expect.objectContaining({ reason: 'record-broken' }));
    expect(() => rows.lines(trajectory)).toThrow(/query "q", sample \d/);
    expect(() => rows.lines(trajectory)).toThrow(problem);
  });
});
