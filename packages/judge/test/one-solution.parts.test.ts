// No answer is right for two solutions that differ: whatever constant a policy writes, valueless ones and ones outside a
// function's domain among them, it is one number or none. Expressions are drawn from all functions that the parser takes.

import { describe, expect, test } from 'vitest';
import { judge } from '../judge.ts';
import { examineSolution } from '../solution.ts';
import { FUNCTIONS } from '../read/vocabulary.ts';
import { pick, randomSource } from '../../../test/support/texts.ts';

const ASKED = process.env['JUDGE_FUZZ'];
const COUNT = Number(ASKED ?? 150);
const SEED = Number(process.env['JUDGE_FUZZ_SEED'] ?? 20_261_122);

const listed = (texts: string): string[] => texts.trim().split(/\s{2,}/);

/** No two of them are equal, whole or in part. */
const SOLUTIONS = listed(String.raw`
  42  0  -3  13  1  \frac{3}{7}  \sqrt{2}  \pi  \ln 2  3+4i  10^{100}  -i  35\%  7\text{ cm}  90^\circ  x  x^2+1  |x|
  \frac{1}{x}  n!  (1,2)  (5,6)  \{1,2\}  \{7\}  [1,2)  (-\infty,4]  x>5  x<-5  y=2x+1
  \begin{pmatrix}1\\2\end{pmatrix}  \infty  B  \$8`);

/** Numbers at the edge of domains, beyond them, and no numbers at all. */
const ATOMS = listed(String.raw`
  0  1  -1  2  -2  \frac{3}{2}  -\frac{5}{3}  10^{30}  1+10^{-30}  10^{-40}  \pi  e  i  \frac{\pi}{2}  \frac{\pi}{6}
  \infty  -\infty  \frac{1}{0}  \frac{0}{0}  0^0  \sqrt{-1}  \ln(0)  \ln(-1)  \arcsin(2)  \tan(\frac{\pi}{2})
  \binom{2}{5}  (-1)!  \log_1 5  \log_{0}3  x  n  \emptyset  \sqrt[0]{2}  5 \bmod 0  \gcd(0,0)  \text{DNE}
  \sum_{k=1}^{3}k  \pm 1  \sum_{k=1}^{\infty} k  \lim_{x\to 0} \frac1x  \int_0^1 x\,dx  0.\overline{9}  \aleph_0  \%  ?`);

const named = (name: string): string => (name.length > 3 || /^[a-z]+$/.test(name) ? `\\${name}` : name);
const FORMS = [
  ...[...FUNCTIONS]
    .filter((name) => !/^(det|rank|tr|dim|deg)$/.test(name))
    .map((name) => `${named(name)}\\left(#1\\right)`),
  ...['sin', 'cos', 'tan', 'sec', 'cosh', 'tanh'].map((name) => `\\${name}^{-1}\\left(#1\\right)`),
  ...listed(String.raw`
    \sqrt{#1}  \sqrt[3]{#1}  \left|#1\right|  \left\lfloor #1 \right\rfloor  \left(#1\right)!  -\left(#1\right)
    \overline{#1}  \frac{#1}{#2}  \left(#1\right)^{#2}  \left(#1\right) \cdot \left(#2\right)  #1 + #2
    #1 - \left(#2\right)  \log_{#1}\left(#2\right)  \binom{#1}{#2}  \max(#1, #2)  \min(#1, #2)  \gcd(#1, #2)
    #1 \bmod #2  \sum_{k=#1}^{#2} k`),
];
/** Around the constant: where it stands as a part. */
const FRAMES = listed(String.raw`
  (#1, #2)  \{#1, #2\}  [#1, #2)  x > #1  x = #1  y = #1x + 1  #1 \text{ cm}  #1^\circ  #1\%
  \begin{pmatrix}#1\\#2\end{pmatrix}  #1, #1`);
const put = (form: string, a: string, b: string): string =>
  form.replace(/#([12])/g, (_, place) => (place === '1' ? a : b));

function* answers(): Generator<string> {
  const random = randomSource(SEED);
  const made = (depth: number): string =>
    depth === 0 || random(4) === 0 ? pick(random, ATOMS) : put(pick(random, FORMS), made(depth - 1), made(depth - 1));
  for (const form of FORMS) for (const a of ATOMS) if (ASKED || random(12) === 0) yield put(form, a, a);
  for (let k = 0; k < COUNT; k++)
    yield random(3) === 0 ? put(pick(random, FRAMES), made(1), made(1)) : made(1 + random(3));
}

describe('one answer', () => {
  test(
    `is right for one solution at most (seed ${SEED})`,
    () => {
      const solutions = SOLUTIONS.filter((solution) => examineSolution(solution).usable);
      expect(solutions.length).toBeGreaterThan(25);
      const twice: unknown[] = [];
      let right = 0;
      for (const answer of answers()) {
        const isRight = (solution: string): boolean => {
          try {
            return judge(`\\boxed{${answer}}`, [solution]).verdict === 'right';
          } catch (error) {
            twice.push({ answer, solution, error: String(error) });
            return false;
          }
        };
        const by = solutions.filter(isRight);
        right += by.length;
        if (by.length > 1) twice.push({ answer, by });
      }
      expect(twice).toEqual([]);
      // Some of them are numbers.
      expect(right).toBeGreaterThan(COUNT / 100);
    },
    Math.max(600_000, COUNT * 200),
  );
});
