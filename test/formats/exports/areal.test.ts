// areal-samples.json holds what AReaL's own `MathMultiTurnAgent` (commit 820ca498b72d) made of the same random rollouts: its
// `collect_trajectory` got the scripted answers, with a tokenizer of bytes, and its `as_json_compatible()` was kept.

import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { successOf } from '../../../domain/rollout/ending.ts';
import { discountedReturns, turnReward } from '../../../domain/rollout/reward.ts';
import type { RolloutSettings } from '../../../domain/rollout/settings.ts';
import type { PlayedTurn, Trajectory } from '../../../domain/rollout/trajectory.ts';
import { turnLogBlock } from '../../../domain/rollout/turn-log.ts';
import type { Finish, TurnRecord } from '../../../domain/rollout/turn.ts';
import type { Task } from '../../../domain/query/query.ts';
import { areal, sequenceSample } from '../../../formats/exports/areal.ts';
import { EXPORTERS, exporterNamed } from '../../../formats/exports/index.ts';
import { aQuery, RUN, someSettings, turnRecord } from '../../records/play.ts';

type Played = Pick<
  TurnRecord,
  'turn' | 'contextIds' | 'outputIds' | 'logprobs' | 'finish' | 'versionStart' | 'versionEnd' | 'contextLength'
>;

interface Case {
  readonly query: string;
  readonly task: Task;
  readonly birthTime: number;
  readonly settings: Partial<RolloutSettings>;
  readonly success: readonly (0 | 1)[];
  readonly turns: readonly Played[];
  readonly log: string | null;
  readonly sample: { readonly keys: readonly string[] };
}

function trajectoryOf(
  { query, task, birthTime, settings: part, success, turns }: Omit<Case, 'log' | 'sample'>,
  sample = 0,
): Trajectory {
  const settings = someSettings(part);
  const turnRewards = success.map((s) => turnReward(s === 1, settings));
  const played: PlayedTurn[] = turns.map((turn, i) => {
    const verdict = success[i] === 1 ? 'right' : 'wrong';
    return {
      record: { ...turnRecord(turn.turn, text(turn.contextIds)), answer: text(turn.outputIds), ...turn },
      verdict: { turn: turn.turn, verdict, reason: 'scripted', of: '', tookMs: 0 },
    };
  });
  return {
    rollout: { run: RUN, query: aQuery(query, { task }), index: 0, sample, attempt: 1, settings, birthTime },
    turns: played,
    end: {
      outcome: 'complete',
      stopReason: 'max-turns',
      failure: null,
      turnRewards,
      returns: discountedReturns(turnRewards, settings.turnDiscount),
      success: played.map(({ verdict }) => successOf(verdict!.verdict)),
      turns: [],
      finishedAt: 0,
    },
  };
}

/** The oracle's tokenizer: one id per latin-1 character, 256 for the end. */
const text = (ids: readonly number[]) => String.fromCharCode(...ids.filter((id) => id < 256));

const samples = new URL('../../fixtures/areal-samples.json', import.meta.url);
const cases = JSON.parse(readFileSync(samples, 'utf8')) as readonly Case[];

describe('an AReaL sample', () => {
  test('the sample is, value for value, the one that AReaL’s own agent makes', () => {
    expect(cases.length).toBeGreaterThan(10);
    for (const each of cases) {
      const [line, ...more] = areal.lines(trajectoryOf(each));
      const made = JSON.parse(line!);
      expect(more).toEqual([]);
      expect({ ...made, keys: [...made.keys].sort() }, each.query).toEqual(each.sample);
    }
  });

  test('the readable log of a turn is the one that AReaL writes', () => {
    const single = cases.filter(({ log }) => log !== null);
    expect(single.length).toBeGreaterThan(1);
    for (const each of single) {
      const { rollout, turns } = trajectoryOf(each);
      expect(turnLogBlock(rollout, [turns[0]!.record], 1, turns[0]!.verdict!)).toBe(each.log);
    }
  });

  const ids = fc.array(fc.nat(200_000), { maxLength: 12 });
  const rollouts = fc
    .array(
      fc.record({
        contextIds: ids.filter((list) => list.length > 0),
        outputs: fc.array(fc.tuple(fc.nat(200_000), fc.double({ min: -1e6, max: 0, noNaN: true })), { maxLength: 12 }),
        finish: fc.constantFrom<Finish>('stop', 'length', 'abort'),
        success: fc.constantFrom<0 | 1>(0, 1),
        version: fc.nat(9),
      }),
      { minLength: 1, maxLength: 6 },
    )
    .map((turns) => {
      let length = 0;
      const played = turns.map(({ contextIds, outputs, finish, version }, i): Played => {
        const contextLength = length + contextIds.length;
        length = contextLength + outputs.length;
        const [outputIds, logprobs] = [outputs.map(([id]) => id), outputs.map(([, logprob]) => logprob)];
        return {
          turn: i + 1,
          contextIds,
          outputIds,
          logprobs,
          finish,
          versionStart: version,
          versionEnd: version,
          contextLength,
        };
      });
      const success = turns.map((turn) => turn.success);
      return trajectoryOf({
        query: 'q',
        task: 'math',
        birthTime: 1,
        settings: { numTurns: 9 },
        success,
        turns: played,
      });
    });

  test('every length is the sum that its seqlens say, and loss falls on sampled tokens alone', () => {
    fc.assert(
      fc.property(rollouts, (trajectory) => {
        const { keys, seqlens, data, dtypes, trailing_shapes: shapes } = sequenceSample(trajectory);
        expect(keys).toEqual(Object.keys(data));
        for (const key of keys) {
          expect(data[key], key).toHaveLength(seqlens[key][0].reduce((sum, length) => sum + length, 0));
          expect([typeof dtypes[key], shapes[key]]).toEqual(['string', []]);
        }
        let at = 0;
        for (const { record } of trajectory.turns) {
          at += record.contextLength;
          const end = at + record.outputIds.length;
          expect(data.packed_input_ids.slice(at, end)).toEqual(record.outputIds);
          expect(data.prompt_mask.slice(at - record.contextLength, end)).toEqual([
            ...Array<boolean>(record.contextLength).fill(true),
            ...Array<boolean>(record.outputIds.length).fill(false),
          ]);
          at = end;
        }
        for (const value of [...data.packed_logprobs, ...data.rewards]) expect(Math.fround(Number(value))).toBe(value);
      }),
    );
  });

  const good = trajectoryOf(cases.find(({ turns }) => turns.length > 1)!);
  const withTurn = (part: Partial<TurnRecord>): Trajectory => ({
    ...good,
    turns: good.turns.map((turn, i) => (i === 1 ? { ...turn, record: { ...turn.record, ...part } } : turn)),
  });

  test.each([
    ['a rollout that is being played', { ...good, end: null }],
    ['a rollout that failed', { ...good, end: { ...good.end!, outcome: 'failed' as const } }],
    ['a rollout without turns', { ...good, turns: [], end: { ...good.end!, returns: [] } }],
    ['a reward too few', { ...good, end: { ...good.end!, returns: [1] } }],
    ['a reward beyond float32', { ...good, end: { ...good.end!, returns: good.turns.map(() => 1e39) } }],
    ['a logprob too few', withTurn({ logprobs: [] })],
    ['a logprob that is no number', withTurn({ outputIds: [1], logprobs: [Number.NaN] })],
    ['a context of another length', withTurn({ contextLength: 1 })],
  ])('refuses %s', (_, trajectory) => {
    expect(() => areal.lines(trajectory)).toThrow(/query "q\d+", sample 0/);
  });

  test('every format is found by its name, and an unknown one is refused with the names that are known', () => {
    for (const exporter of EXPORTERS) expect(exporterNamed(exporter.name)).toBe(exporter);
    expect(() => exporterNamed('x')).toThrow(
      expect.objectContaining({ reason: 'unknown-format', fix: expect.stringContaining('areal') }),
    );
  });
});
