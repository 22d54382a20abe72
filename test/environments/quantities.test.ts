// Statements about each quantity of a story, for a question about one of them: right where the statement is about the asked one, wrong
// where it is about another. The stories stand in quantities.txt; the rates may only get better.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { judgeMath } from '../../environments/math/judge.ts';

const STORIES = readFileSync(new URL('./quantities.txt', import.meta.url), 'utf8')
  .trim()
  .split(/\n\n+/);
const FILLED = [
  { A: 'Tom', B: 'Ben', x: 'apples', y: 'plums' },
  { A: 'Omar', B: 'Luis', x: 'stickers', y: 'stamps' },
];
const VALUE = '37';

interface Reply {
  readonly question: string;
  readonly answer: string;
  readonly expected: 'right' | 'wrong';
}

function* replies(): Generator<Reply> {
  for (const story of STORIES)
    for (const names of FILLED) {
      const fill = (text: string): string =>
        Object.entries(names).reduce((t, [k, by]) => t.replaceAll(`{${k}}`, by), text);
      const [told = '', ...lines] = fill(story).split('\n');
      const quantities = lines.map((line) => line.replace(/^\? /, '').split(' | '));
      for (const [k, [asks = '']] of quantities.entries())
        for (const [n, [, ...statements]] of quantities.entries())
          for (const statement of statements)
            yield {
              question: `${told} ${asks}`,
              answer: statement.replace(/(?<![A-Za-z])V(?![A-Za-z])/g, VALUE),
              expected: k === n ? 'right' : 'wrong',
            };
    }
}

describe('a statement about a quantity of the question', () => {
  const judged = [...replies()].map((reply) => ({
    ...reply,
    verdict: judgeMath(reply.answer, [VALUE], { question: reply.question }).verdict,
  }));
  test.each([
    ['right', 0.09, 1_000],
    ['wrong', 0.075, 3_000],
  ] as const)('is %s where its label says so', (expected, share, count) => {
    const side = judged.filter((reply) => reply.expected === expected);
    const otherwise = side.filter(({ verdict }) => verdict !== expected);
    expect(side.length).toBeGreaterThan(count);
    const which = otherwise.slice(0, 40).map(({ question, answer }) => `${question} ${answer}`);
    expect(otherwise.length / side.length, which.join('\n')).toBeLessThanOrEqual(share);
  });
});
