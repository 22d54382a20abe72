// SimpleQA from the reply of its grader to a verdict, against its authors' own reading, which test/real/judge/simpleqa_replies.py has.
// A reply that holds no single grade is asked again here; where that, or a grade, differs, its class stands here with the reason.

import { describe, expect, test } from 'vitest';
import { readChoice } from '../../../environments/own/rubric/prompt.ts';
import { shippedBenchmark } from '../../../formats/benchmarks/find-rows.ts';
import { rowsOf } from '../../support/rows.ts';

interface Reply {
  readonly kind: string;
  readonly meant: string | null;
  readonly reply: string;
  readonly by: string;
}

const EXCEPTIONS: Readonly<Record<string, string>> = {
  'mark: asked again': '"Answer: B" is A there: the first capital of the three counts, also within a word',
  'none: asked again': 'no grade counts as C there',
  'sentence: asked again': 'words stand before the letter',
  'small: read': 'a small letter is no grade there, and counts as C',
  'thought of letters: read': 'the first letter of a thought counts there',
  'two letters: asked again': 'the first one counts there',
  'word alone: asked again': 'CORRECT and INCORRECT are C there, and NOT_ATTEMPTED is A',
};

describe('the grades of SimpleQA', () => {
  test('are those that its authors read, but for the classes that are named', () => {
    const rubric = shippedBenchmark('simpleqa').page.rubric as Parameters<typeof readChoice>[0];
    const replies = rowsOf<Reply>('./simpleqa-replies.jsonl', import.meta.url);
    const read = replies.map((one) => ({ ...one, ours: readChoice(rubric, '', one.reply)?.choice }));
    // Whatever is read is what was meant.
    expect(read.filter(({ ours, meant }) => ours !== undefined && ours !== meant)).toEqual([]);
    const differing = read.filter(({ ours, by }) => ours !== by);
    const classes = differing.map(({ kind, ours }) => `${kind}: ${ours === undefined ? 'asked again' : 'read'}`);
    expect([...new Set(classes)].sort()).toEqual(Object.keys(EXCEPTIONS).sort());
    expect([read.length, read.length - differing.length]).toEqual([56, 35]);
  });
});
