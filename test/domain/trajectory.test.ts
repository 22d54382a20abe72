import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contextIds } from '../../domain/rollout/trajectory.ts';
import { noEos } from '../../domain/rollout/turn.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';

type Ids = Pick<TurnRecord, 'contextIds' | 'outputIds'>;

function played(turns: readonly Ids[]): TurnRecord[] {
  return turns.map((ids, i) => ({ ...ids, turn: i + 1 }) as TurnRecord);
}

describe('a trajectory', () => {
  test('a context is all contexts and answers before it, and what is new in it', () => {
    const ids = fc.array(fc.nat(100), { maxLength: 8 });
    fc.assert(
      fc.property(fc.array(fc.record({ contextIds: ids, outputIds: ids }), { minLength: 1, maxLength: 6 }), (turns) => {
        let sequence: number[] = [];
        turns.forEach((turn, i) => {
          const context = [...sequence, ...turn.contextIds];
          expect(contextIds(played(turns), i + 1)).toEqual(context);
          sequence = [...context, ...turn.outputIds];
        });
      }),
    );
  });

  test('a context of 300,000 tokens is put together like any other', () => {
    const long = Array.from({ length: 150_000 }, (_, i) => i);
    const turns = played([
      { contextIds: long, outputIds: long },
      { contextIds: [7], outputIds: [8] },
    ]);
    expect(contextIds(turns, 2)).toHaveLength(300_001);
    expect(contextIds(turns, 2).at(-1)).toBe(7);
  });

  test('only an answer that was stopped has an end of sequence', () => {
    expect((['stop', 'length', 'abort'] as const).map(noEos)).toEqual([false, true, true]);
  });
});
