// The neutral row against the records it is made of, for any rollout: each list is taken apart again, turn by turn.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { packedKept } from '../../domain/rollout/kept-sets.ts';
import type { RolloutSettings } from '../../domain/rollout/settings.ts';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';
import { neutralRow } from '../../domain/samples/neutral-row.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { arealTurns, turnSampleId } from '../../formats/exports/areal.ts';
import { rows } from '../../formats/exports/rows.ts';
import { turnRecord } from '../records/play.ts';
import { asFloat32, trajectories } from './random-trajectory.ts';

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

  test('says that its logprobs are biased where a run allowed that, and no set is known', () => {
    const [{ rollout, turns, end }] = fc.sample(trajectories, { numRuns: 1, seed: 1 }) as [Trajectory];
    const said = (more: Partial<RolloutSettings>) =>
      neutralRow({ rollout: { ...rollout, settings: { ...rollout.settings, temperature: 1, ...more } }, turns, end });
    expect(said({ topP: 0.9, allowBiasedLogprobs: true })).toMatchObject({ biased_logprobs: true });
    for (const more of [{ topP: 0.9 }, { topP: 1, topK: 1e8, allowBiasedLogprobs: true }])
      expect(said(more)).not.toHaveProperty('biased_logprobs');
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
