// Benchmarks by their names, from a row to the verdict on a reply, against the checkers of their authors or their harness, which
// test/real/judge/benchmark_replies.py asked. Where a verdict differs, its class stands here with the reason.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type Query, questionOf } from '../../../domain/query/query.ts';
import { judge } from '../../../packages/judge/index.ts';
import { createMathJudge } from '../../../environments/math-environment.ts';
import { createSolutionReader } from '../../../environments/solution-reader.ts';
import { rowsOf } from '../../support/rows.ts';
import { putInCache, rowsNamed } from './read-benchmark.ts';

interface Line {
  readonly benchmark: string;
  readonly row: Readonly<Record<string, unknown>>;
  /** `by`: the verdict of each checker; the first one counts. */
  readonly replies: readonly { readonly kind: string; readonly reply: string; readonly by: Record<string, boolean> }[];
}
interface Exception {
  readonly ours: boolean;
  readonly of: readonly string[];
  readonly kinds: readonly string[];
  readonly reason: string;
}

const VALUES = ['gsm8k', 'math500', 'aime24', 'aime25', 'amc23', 'hmmt25', 'olympiadbench'];
const CHOICES = ['gpqa-diamond', 'mmlu-pro', 'arc-challenge'];
const EXCEPTIONS: readonly Exception[] = [
  {
    ...{ ours: false, of: [...VALUES, ...CHOICES], kinds: ['open thought'] },
    reason:
      'a thought that is not finished has no answer; a checker knows no thoughts, which servers split off before it',
  },
  {
    ...{ ours: false, of: CHOICES, kinds: ['thought and mark, wrong'] },
    reason: 'the same: the mark within the thought is the first one',
  },
  {
    ...{ ours: true, of: VALUES, kinds: ['two marks'] },
    reason: 'Math-Verify joins all boxes to one list; what was taken back does not count',
  },
  {
    ...{ ours: false, of: ['olympiadbench'], kinds: ['a word behind'] },
    reason: 'words behind a list are no unit of its last item; Math-Verify drops them',
  },
  {
    ...{ ours: false, of: ['gsm8k'], kinds: ['of a model, right'] },
    reason: 'ours is wrong: "which is 72Mb per hour", where a unit that nobody knows touches the number',
  },
  {
    ...{ ours: false, of: CHOICES, kinds: ['right or', 'all', 'of a model'] },
    reason: 'two letters name no choice; a checker takes the first',
  },
  {
    ...{ ours: false, of: CHOICES, kinds: ['right letter, wrong text'] },
    reason: 'the letter of one choice before the text of another names none; a checker reads the letter alone',
  },
  {
    ...{
      ours: true,
      of: CHOICES,
      kinds: ['text alone', 'small letters', 'letter alone', 'other words', 'box', 'capitals'],
    },
    reason: 'it names the choice, though not in the form that was asked for',
  },
  {
    ...{ ours: true, of: CHOICES, kinds: ['bold letter', 'brackets', 'dollars'] },
    reason: 'signs around the letter do not count',
  },
  {
    ...{ ours: true, of: CHOICES, kinds: ['two marks'] },
    reason: 'the last statement counts; a checker reads the first',
  },
  { ...{ ours: false, of: CHOICES, kinds: ['two marks, wrong'] }, reason: 'the same' },
];
/** Replies, and those whose verdicts are equal. */
const EQUAL: Readonly<Record<string, readonly [number, number]>> = {
  gsm8k: [82, 79],
  math500: [80, 78],
  aime24: [68, 64],
  aime25: [68, 64],
  amc23: [68, 64],
  hmmt25: [68, 64],
  olympiadbench: [68, 63],
  'gpqa-diamond': [76, 48],
  'mmlu-pro': [116, 97],
  'arc-challenge': [101, 75],
};

const root = mkdtempSync(join(tmpdir(), 'everturn-verdicts-'));
const judges = createMathJudge();
afterAll(() => {
  judges.close();
  rmSync(root, { recursive: true });
});

const lines = rowsOf<Line>('./verdicts.jsonl', import.meta.url);

interface Difference {
  readonly kind: string;
  readonly ours: boolean;
  readonly end: string;
}

function differences(query: Query, { replies }: Line): Difference[] {
  return replies.flatMap(({ kind, reply, by }) => {
    // What a limit cut ends so in a run, too.
    const cut = /^(?:cut|open thought)/.test(kind);
    const ours = judge(reply, query.solutions, { question: questionOf(query), cut }).verdict === 'right';
    return ours === Object.values(by)[0] ? [] : [{ kind, ours, end: `${query.solutions[0]}: … ${reply.slice(-160)}` }];
  });
}

const reasonOf = (benchmark: string, { kind, ours }: Difference): Exception | undefined =>
  EXCEPTIONS.find((one) => one.of.includes(benchmark) && one.kinds.includes(kind) && one.ours === ours);

describe('the verdicts on replies', () => {
  const used = new Set<string>();

  test.each([...VALUES, ...CHOICES])(
    'are those of its checker, but for the classes that are named: %s',
    async (name) => {
      const own = lines.filter(({ benchmark }) => benchmark === name);
      putInCache(
        name,
        root,
        own.map(({ row }) => row),
      );
      const { queries } = await rowsNamed(name, root, createSolutionReader(judges));
      expect(queries.length).toBe(own.length);
      const found = queries.flatMap((query, i) => differences(query, own[i]!));
      for (const { kind } of found) used.add(kind);
      expect(found.filter((one) => !reasonOf(name, one))).toEqual([]);
      const asked = own.reduce((sum, { replies }) => sum + replies.length, 0);
      expect([asked, asked - found.length]).toEqual(EQUAL[name]);
    },
  );

  test('differ in every class that is named', () => {
    expect([...used].sort()).toEqual(
      EXCEPTIONS.flatMap(({ kinds }) => kinds)
        .filter((kind, i, all) => all.indexOf(kind) === i)
        .sort(),
    );
  });
});
