// The judge's processes under fire, and under nonsense: kills from outside change no verdict, and with a well-formed
// solution no answer is left undecided, whatever it holds.

import { afterEach, describe, expect, test } from 'vitest';
import { judgeWithRetries } from '../../environments/judge-pairs.ts';
import { judgeMath } from '../../environments/math/judge.ts';
import { createMathJudge, type MathJudge } from '../../environments/math-environment.ts';
import { compiledRoom } from '../support/compiled.ts';
import { generatePairs, type Random, seeded } from './generate-pairs.ts';
import { mixtures, TOKENS } from './repeated.ts';

const ALL = process.env['EVERTURN_FUZZ'] === 'all';
const SEED = Number(process.env['EVERTURN_FUZZ_SEED'] ?? 20_261_122);
const KILLS = ALL ? 1_000 : 20;
const open: MathJudge[] = [];
afterEach(() => {
  for (const judge of open.splice(0)) judge.close();
});

function realJudge(children: number): MathJudge {
  const judge = createMathJudge({ entry: `${compiledRoom('environments')}/math/pool/child.js`, children });
  open.push(judge);
  return judge;
}

interface Asked {
  readonly answer: string;
  readonly solution: string;
}

function pairs(count: number): Asked[] {
  return [...generatePairs(SEED, count)].flatMap(({ solution, equal, near }) =>
    [equal, near].map((text) => ({ answer: `So it is \\boxed{${text}}.`, solution })),
  );
}

describe(`a judge whose processes are killed (seed ${SEED})`, () => {
  test('gives every answer the verdict and reason that it has undisturbed', async () => {
    const asked = pairs(ALL ? 5_000 : 600);
    const undisturbed = asked.map(({ answer, solution }) => judgeMath(answer, [solution]));
    const judge = realJudge(3);
    const random = seeded(SEED);
    let kills = 0;
    const nemesis = setInterval(() => {
      const { pids } = judge;
      if (pids.length === 0) return;
      try {
        process.kill(random.pick(pids), random.pick(['SIGKILL', 'SIGTERM']));
        kills++;
      } catch {
        // It has just ended.
      }
    }, 400);
    try {
      // A few at a time, as rollouts come: what runs meanwhile is hit at any place of a batch.
      for (let at = 0; kills < KILLS; at = (at + 48) % asked.length) {
        const part = asked.slice(at, at + 48);
        const verdicts = part.map(({ answer, solution }) => judgeWithRetries(() => judge.judge(answer, [solution])));
        expect(await Promise.all(verdicts)).toEqual(undisturbed.slice(at, at + 48));
      }
    } finally {
      clearInterval(nemesis);
    }
  }, 600_000);
});

const WORDS = [
  'So',
  'the answer is',
  'Therefore',
  'x =',
  '\\boxed{',
  '}',
  '$',
  '####',
  'final answer:',
  '.',
  '\n',
  '</think>',
];

/** An answer with something done to it. */
function mutated(random: Random, text: string): string {
  const at = random.int(0, text.length);
  const token = random.pick(TOKENS);
  const ways: readonly (() => string)[] = [
    () => text.slice(0, at) + token + text.slice(at),
    () => text.slice(0, at) + text.slice(at + random.int(1, 6)),
    () => text.slice(0, at),
    () => `${text.slice(0, at)}${token.repeat(random.int(2, 40))}${text.slice(at)}`,
    () => text + text.slice(at),
    () => `${random.pick(WORDS)} ${text} ${random.pick(WORDS)}`,
    () => [...text].toReversed().join(''),
  ];
  return random.pick(ways)();
}

function* nonsense(count: number): Generator<Asked & { readonly cut: boolean }> {
  const random = seeded(SEED + 1);
  const good = [...generatePairs(SEED, 300)];
  for (let n = 0; n < count; n++) {
    const { solution, equal, near } = random.pick(good);
    let text = random.pick([equal, near]);
    if (n % 5 === 0) text = [...mixtures(random, 1)][0]!.slice(0, 400);
    else for (let times = random.int(1, 4); times > 0; times--) text = mutated(random, text);
    const answer = random.pick([`\\boxed{${text}}`, text, `The answer is ${text}`, `$${text}$`]);
    yield { answer, solution, cut: n % 7 === 0 };
  }
}

describe('an answer to a well-formed solution', () => {
  test(`is right or wrong, whatever it holds (seed ${SEED})`, async () => {
    const judge = realJudge(2);
    const solutions = [...new Set([...generatePairs(SEED, 300)].map(({ solution }) => solution))];
    const exams = await judge.examine(solutions);
    const usable = new Set(solutions.filter((_, n) => exams[n]!.usable));
    expect(usable.size).toBeGreaterThan(solutions.length * 0.98);
    const undecided: string[] = [];
    let count = 0;
    for (const { answer, solution, cut } of nonsense(ALL ? 50_000 : 3_000)) {
      if (!usable.has(solution)) continue;
      count++;
      const { verdict, reason } = await judge.judge(answer, [solution], { cut });
      if (verdict === 'undecided') undecided.push(`${reason}: ${JSON.stringify({ answer, solution, cut })}`);
    }
    expect(count).toBeGreaterThan(2_500);
    expect(undecided.slice(0, 20)).toEqual([]);
  }, 1_800_000);
});
