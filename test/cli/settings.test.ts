// Settings as a run keeps them: what goes through JSON and back is what was resolved, so that a run is equal to itself.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../domain/errors/errors.ts';
import { parseSettings, resolveOptions, settingsOf } from '../../run/config.ts';
import { planRun } from '../../run/plan.ts';

const dataset = { path: '/rows.jsonl', sha256: 'f'.repeat(64), accepted: 1, refused: 0 };
const kept = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('settings', () => {
  test.each(['temperature', 'rewardBias', 'rewardScaling', 'turnDiscount', 'seed'])('%s of -0 is 0', (key) => {
    for (const value of [-0, '-0', '-0.0', '-0e5']) {
      const { options } = resolveOptions({ flags: { [key]: value } });
      expect(Object.is(options[key as 'seed'], 0)).toBe(true);
      const settings = settingsOf('r', options);
      expect(settings).toStrictEqual(kept(settings));
    }
    expect(Object.is(parseSettings('r', { [key]: -0 })[key as 'seed'], 0)).toBe(true);
  });

  test.each(['Infinity', '-Infinity', 'NaN', '1e999'])('%s is no number of a run', (text) => {
    for (const value of [text, Number(text)]) {
      expect(() => resolveOptions({ flags: { rewardScaling: value } })).toThrow('does not fit');
      expect(() => resolveOptions({ flags: { temperature: value } })).toThrow('does not fit');
    }
  });

  test('more members of a group than samples are refused', () => {
    const of = (minMembers: number) =>
      planRun({ ...resolveOptions({ flags: { train: true, samples: 4, minMembers } }), name: 'r', dataset, now: 0 });
    expect(of(4).train).toMatchObject({ minMembers: 4 });
    expect(() => of(5)).toThrow('--min-members 5 is above --samples 4');
  });

  test('whatever is accepted comes back from JSON as it was', () => {
    const anyNumber = fc.oneof(fc.double(), fc.constantFrom(-0, 5e-324, 1e308, 2 ** 53), fc.integer());
    fc.assert(
      fc.property(
        fc.constantFrom('temperature', 'topP', 'rewardScaling', 'rewardBias', 'turnDiscount', 'seed', 'topK'),
        fc.oneof(anyNumber, anyNumber.map(String)),
        (key, value) => {
          try {
            const settings = parseSettings('r', { [key]: value });
            expect(settings).toStrictEqual(kept(settings));
          } catch (error) {
            expect(error).toBeInstanceOf(UsageError);
            expect(['bad-value', 'bad-rewards']).toContain((error as UsageError).reason);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});
