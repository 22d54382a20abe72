// No text is right by what it does to the judge, and none kills or holds up its process, as an answer, as a solution, or
// against itself; with a well-formed solution each is right or wrong. Some of the repetitions in each run of the tests, all of
// them with EVERTURN_FUZZ=all (half an hour of two quiet cores), or one part of them with EVERTURN_FUZZ_PART=3/20 beside it.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { createJudge } from '../pool/create-judge.ts';
import { judge } from '../judge.ts';
import { compiledRoom } from '../../../test/support/compiled.ts';
import { pick, randomSource } from '../../../test/support/texts.ts';
import { rowsOf } from '../../../test/support/rows.ts';
import { mixtures, repetitions } from './repeated.ts';

const ALL = process.env['EVERTURN_FUZZ'] === 'all';
const SEED = Number(process.env['EVERTURN_FUZZ_SEED'] ?? 20_261_122);
const [PART = 1, PARTS = 1] = (process.env['EVERTURN_FUZZ_PART'] ?? '1/1').split('/').map(Number);
const MIXTURES = ALL ? 100_000 : 60;
const LIMIT_MS = ALL ? 6 * 3_600_000 : 600_000;
const SOLUTIONS = ['5', '\\sqrt{2}', 'x^2+1', '\\{1,2,3\\}', '[0,1)'];

/** Towers, nesting and bombs in every construct that the judge reads; a part that repeats is there with its number. */
const BOMBS = rowsOf<{ name: string; parts: (string | [string, number])[] }>(
  './hostile.jsonl',
  import.meta.url,
).flatMap(({ name, parts }) => {
  const text = parts.map((part) => (typeof part === 'string' ? part : part[0].repeat(part[1]))).join('');
  return [[name, text] as const, [`boxed ${name}`, `So \\boxed{${text}}.`] as const];
});
/** One unit repeated to 100,000 characters, or to 3,000 in a box. */
const FLOODS = (JSON.parse(readFileSync(join(import.meta.dirname, 'floods.json'), 'utf8')) as string[]).flatMap(
  (unit) => {
    const long = unit.repeat(100_000 / unit.length);
    return [[`flood of ${unit}`, long] as const, [`box of ${unit}`, `\\boxed{${long.slice(0, 3_000)}}`] as const];
  },
);

describe('a hostile text', () => {
  test('never throws and is never right, as an answer or as a solution', () => {
    for (const [n, [name, text]] of [...FLOODS, ...BOMBS].entries()) {
      const solution = SOLUTIONS[n % SOLUTIONS.length]!;
      expect(judge(text, [solution]).verdict, name).toBe('wrong');
      expect(judge(solution, [text]).verdict, name).not.toBe('right');
    }
  });
});

/** Each of these overflowed the stack of a cold process, and the last one took seconds. */
const KILLED = [
  ...[`x${"'".repeat(990)}`, `x${'!'.repeat(990)}`, `${'\\sqrt '.repeat(600)}x`, `1${'\\%'.repeat(1_900)}`],
  `${'\\frac{1}{1+'.repeat(9_000)}1${'}'.repeat(9_000)}`,
];

const folder = mkdtempSync(join(tmpdir(), 'everturn-fuzz-'));
afterAll(() => rmSync(folder, { recursive: true }));
const real = `${compiledRoom('packages/judge')}/pool/child.js`;
/** Code that is never optimised has the largest frames on the stack: those of a process that has just begun. */
const cold = join(folder, 'cold.mjs');
writeFileSync(
  cold,
  `import v8 from 'node:v8';\nv8.setFlagsFromString('--no-opt');\nv8.setFlagsFromString('--no-sparkplug');\n` +
    `await import('${pathToFileURL(real).href}');\n`,
);

describe(`a text that repeats (seed ${SEED})`, () => {
  test.each([
    ['a cold process', cold, 10_000, ALL ? 1 : 0.002],
    ['a process within a quarter of its time', real, 500, ALL ? 1 : 0.01],
  ])(
    'is judged by %s, which stays alive',
    async (_, entry, cpuLimitMs, share) => {
      const judges = createJudge({ entry, cpuLimitMs, limitMs: 300_000, children: 1 });
      try {
        await judges.judge('1', ['1']);
        const seen = new Set<number>();
        const random = randomSource(SEED);
        const some = [...repetitions()].filter(() => random(1_000) < share * 1_000);
        let n = 0;
        for (const text of [...KILLED, ...some, ...mixtures(random, MIXTURES)]) {
          if (n++ % PARTS !== PART - 1) continue;
          const verdicts = await Promise.all([
            judges.judge(`\\boxed{${text}}`, [pick(random, SOLUTIONS)]),
            judges.judge(text, ['5'], { cut: true }),
            judges.judge(text, ['5'], { question: text }),
            judges.judge('\\boxed{7x}', [text]),
            judges.judge(`\\boxed{0+${text}}`, [`\\boxed{${text}}`]),
            judges.examine([text]),
          ]);
          const bySolutions = verdicts.slice(0, 3).map((one) => ('verdict' in one ? one.verdict : one));
          expect(bySolutions, JSON.stringify(text)).not.toContain('undecided');
          // One that is slow may get a second process beside it; none may go.
          for (const pid of judges.pids) seen.add(pid);
          expect([...seen], JSON.stringify(text)).toEqual(judges.pids);
        }
      } finally {
        judges.close();
      }
    },
    LIMIT_MS,
  );
});
