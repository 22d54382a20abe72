// The last page of a run.

import { describe, expect, test } from 'vitest';
import { accuracyTable, outcomeLine, reasonLines, wrongReasonsLine } from '../../cli/view/summary.ts';
import { countsOf, resultOf } from './scripted-io.ts';

const plain = (_: string, text: string) => text;

const counts = countsOf({
  outcomes: { complete: 1_200, undecided: 1, failed: 2, cancelled: 0 },
  turns: 2_405,
  tokens: 1_234_567,
  judgedAt: [1203, 1202],
  rightAt: [600, 900],
  rightBy: [600, 1000],
  reasons: { 'disk-full': 2, unparsed: 1 },
  failures: [
    { query: 'a\u001b[2J', sample: 1, outcome: 'failed', reason: 'disk-full' },
    { query: 'b', sample: 0, outcome: 'undecided', reason: 'unparsed' },
    { query: 'c', sample: 0, outcome: 'failed', reason: 'disk-full' },
  ],
});

describe('the summary of a run', () => {
  test('accuracy is of those judged at that turn; right so far is of all rollouts', () => {
    const [head, first, second] = accuracyTable({ counts, total: 2000 }, plain).split('\n');
    expect(head).toBe('turn  judged  right  accuracy  right so far, of all');
    expect(first?.split(/\s{2,}/)).toEqual(['', '1', '1,203', '600', '49.9 %', '600', '30.0 %']);
    expect(second?.split(/\s{2,}/)).toEqual(['', '2', '1,202', '900', '74.9 %', '1,000', '50.0 %']);
  });

  test('every way a rollout ended is counted by its name', () => {
    expect(outcomeLine({ counts, total: 1203 })).toBe(
      '1,203 rollouts: 1,200 complete, 1 undecided, 2 failed. 2,405 turns, 1,234,567 tokens.',
    );
    expect(outcomeLine({ counts, total: 2000 })).toMatch(/^1,203 of 2,000 rollouts: /);
    expect(outcomeLine(resultOf({ total: 4 }))).toBe('0 of 4 rollouts: none ended. 0 turns, 0 tokens.');
  });

  test('reasons come with whom they met, most frequent first, and no id steers the terminal', () => {
    expect(reasonLines({ counts }, plain)).toEqual([
      '2 failed: disk-full (a␛[2J sample 1, c)',
      '1 undecided: unparsed (b)',
    ]);
  });

  test('why answers are wrong that were not shown to differ is said, with how to judge them again', () => {
    const verdicts = { right: { equal: 7 }, wrong: { different: 90, 'cut-off': 3, unreadable: 1200, 'too-big': 1 } };
    expect(wrongReasonsLine({ counts: { ...counts, verdicts } }, 'everturn judge --run a')).toEqual([
      'wrong, but not shown to differ: unreadable 1,200, cut-off 3, too-big 1  (`everturn judge --run a --environment <judge>` has another judge decide)',
    ]);
    const shown = (wrong: object) =>
      wrongReasonsLine({ counts: { ...counts, verdicts: { wrong: wrong as never } } }, 'x');
    expect(shown({ different: 4 })).toEqual([]);
    expect(shown({ 'no-answer': 2 })).toEqual(['wrong, but not shown to differ: no-answer 2']);
  });
});
