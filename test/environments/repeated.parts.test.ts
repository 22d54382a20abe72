// No text kills or holds up the judge's process, as an answer, as a solution, or against itself. Some of the texts in
// each run of the tests, all of them with EVERTURN_FUZZ=all (half an hour of two quiet cores), or one part of them with
// EVERTURN_FUZZ=all EVERTURN_FUZZ_PART=3/20, so that parts can run on several machines or one after the other.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { createMathJudge } from '../../environments/math-environment.ts';
import { compiledRoom } from '../support/compiled.ts';
import { seeded } from './generate-pairs.ts';
import { mixtures, repetitions } from './repeated.ts';

const ALL = process.env['EVERTURN_FUZZ'] === 'all';
const SEED = Number(process.env['EVERTURN_FUZZ_SEED'] ?? 20_261_122);
const [PART = 1, PARTS = 1] = (process.env['EVERTURN_FUZZ_PART'] ?? '1/1').split('/').map(Number);
const SHARE = ALL ? 1 : 0.01;
const MIXTURES = ALL ? 100_000 : 150;
const LIMIT_MS = ALL ? 6 * 3_600_000 : 600_000;

/** Each of these overflowed the stack of a cold process. */
const KILLED = [`x${"'".repeat(990)}`, `x${'!'.repeat(990)}`, `${'\\sqrt '.repeat(600)}x`, `1${'\\%'.repeat(1_900)}`];

const folder = mkdtempSync(join(tmpdir(), 'everturn-fuzz-'));
afterAll(() => rmSync(folder, { recursive: true }));
const real = `${compiledRoom('environments')}/math/pool/child.js`;
/** Code that is never optimised has the largest frames on the stack: those of a process that has just begun. */
const cold = join(folder, 'cold.mjs');
writeFileSync(
  cold,
  `import v8 from 'node:v8';\nv8.setFlagsFromString('--no-opt');\nv8.setFlagsFromString('--no-sparkplug');\n` +
    `await import('${pathToFileURL(real).href}');\n`,
);

describe(`a text that repeats (seed ${SEED})`, () => {
  test.each([
    ['a cold process', cold, 10_000],
    ['a process within a quarter of its time', real, 500],
  ])(
    'is judged by %s, which stays alive',
    async (_, entry, cpuLimitMs) => {
      const judge = createMathJudge({ entry, cpuLimitMs, limitMs: 300_000, children: 1 });
      try {
        await judge.judge('1', ['1']);
        const seen = new Set<number>();
        const random = seeded(SEED);
        const some = [...repetitions()].filter(() => random() < SHARE);
        let n = 0;
        for (const text of [...KILLED, ...some, ...mixtures(random, MIXTURES)]) {
          if (n++ % PARTS !== PART - 1) continue;
          const verdicts = await Promise.all([
            judge.judge(`\\boxed{${text}}`, [random.pick(['5', 'x^2+1', '\\{1,2\\}', '[0,1)'])]),
            judge.judge('\\boxed{7x}', [text]),
            judge.judge(`\\boxed{0+${text}}`, [`\\boxed{${text}}`]),
            judge.judge(text, ['5'], { cut: true }),
            judge.judge(text, ['5'], { question: text }),
            judge.examine([text]).then(() => ({ verdict: 'examined' })),
          ]);
          expect(verdicts).toHaveLength(6);
          // One that is slow may get a second process beside it; none may go.
          for (const pid of judge.pids) seen.add(pid);
          expect([...seen], JSON.stringify(text)).toEqual(judge.pids);
        }
      } finally {
        judge.close();
      }
    },
    LIMIT_MS,
  );
});
