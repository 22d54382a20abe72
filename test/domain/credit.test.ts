// Spans of an answer and its tokens: where each token begins in the text that an environment is sent, and what follows from it.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { flawOfSpans, placedRewards, tokenStarts, trainedTokens } from '../../domain/rollout/credit.ts';
import type { Credit } from '../../domain/rollout/environment.ts';
import { byteTokenizer } from '../support/scripted-model.ts';
import { startsOf } from './token-starts.ts';

const wrong = (problem: string): never => {
  throw new Error(problem);
};
describe('a token that is no text', () => {
  test('begins where the text behind it does: a special one, the stop token, the last of a character that was cut', async () => {
    const { EOS, START } = { EOS: 256, START: 257 };
    const bytes = (said: string) => [...Buffer.from(said)];
    expect((await startsOf([START, ...bytes('a\u20ac'), START, ...bytes('b'), EOS])).starts).toEqual([
      ...[0, 0, 1, 1, 1, 2, 2, 3],
    ]);
    expect(await startsOf([...bytes('a\u20ac').slice(0, -1)])).toMatchObject({ answer: 'a\ufffd', starts: [0, 1, 1] });
    expect((await startsOf([])).starts).toEqual([]);
    expect((await startsOf([EOS])).starts).toEqual([0]);
  });

  test('the mark of a thought that was cut stands before the first token', async () => {
    const outputIds = [...Buffer.from('so')];
    const cut = { contextText: '<think>\n', outputText: 'so', answer: 'so', finish: 'length', outputIds } as const;
    expect(await tokenStarts(cut, (ids) => byteTokenizer.decode(ids, { skipSpecialTokens: true }))).toEqual([7, 8]);
  });
});

const tokens = { turn: 2, outputIds: [5, 6, 7, 8], tokenStarts: [0, 2, 2, 4] };
const said = (credit: readonly Credit[], base?: number) => ({ credit, ...(base !== undefined && { base }) });

describe('spans', () => {
  test('are refused outside the answer, empty, over each other and out of order, and taken otherwise', () => {
    const span = fc.record({ from: fc.nat(9), to: fc.nat(9) });
    fc.assert(
      fc.property(fc.array(span, { maxLength: 3 }), fc.nat(9), (spans, length) => {
        const free = Array<boolean>(10).fill(true);
        const isRight = spans.every(({ from, to }, i) => {
          const own = Array.from({ length: Math.max(0, to - from) }, (_, k) => from + k);
          const right =
            own.length > 0 && to <= length && own.every((at) => free[at]) && from >= (spans[i - 1]?.to ?? 0);
          for (const at of own) free[at] = false;
          return right;
        });
        expect(flawOfSpans(spans, length) === undefined).toBe(isRight);
      }),
    );
    expect(flawOfSpans([{ from: 3, to: 5 }], 4)).toBe('`credit.0` is from 3 to 5, and the answer has 4 characters');
  });

  test('mask the tokens that begin in them, and no other', () => {
    expect(trainedTokens(tokens, said([{ from: 1, to: 4, train: false }]), wrong)).toEqual([1, 0, 0, 1]);
    expect(
      trainedTokens(
        tokens,
        said([
          { from: 0, to: 1, train: false },
          { from: 1, to: 2, reward: 3 },
        ]),
        wrong,
      ),
    ).toEqual([...[0, 1, 1, 1]]);
    expect(trainedTokens(tokens, { train: false }, wrong)).toEqual([0, 0, 0, 0]);
    expect(trainedTokens(tokens, null, wrong)).toEqual([1, 1, 1, 1]);
    expect(() =>
      trainedTokens({ ...tokens, tokenStarts: [0] }, said([{ from: 0, to: 1, train: false }]), wrong),
    ).toThrow('turn 2 says not where');
  });

  test('give their rewards to the last token that begins before their end, and the answer’s to its last', () => {
    const spans = [
      { from: 0, to: 2, reward: 1 },
      { from: 2, to: 4, reward: 2 },
      { from: 4, to: 5 },
    ];
    expect(placedRewards(tokens, said(spans, 0.5), 3.5, wrong)).toEqual([
      [0, 1],
      [2, 2],
      [3, 0],
      [3, 0.5],
    ]);
    // Of a mark before the first token, and of an answer without a token.
    expect(
      placedRewards({ ...tokens, tokenStarts: [7, 7, 8, 9] }, said([{ from: 0, to: 7, reward: 1 }], 0), 1, wrong)[0],
    ).toEqual([...[0, 1]]);
    expect(
      placedRewards({ turn: 1, outputIds: [], tokenStarts: [] }, said([{ from: 0, to: 7, reward: 1 }], 0), 1, wrong),
    ).toEqual([
      ...[
        [-1, 1],
        [-1, 0],
      ],
    ]);
    expect(placedRewards(tokens, said(spans), 3.5, wrong)).toEqual([[3, 3.5]]);
  });
});
