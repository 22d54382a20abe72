// Random and mutated answers to solutions that are well formed: cut, doubled, glued together from pieces of LaTeX and prose,
// and one short text repeated many times. Seeded, so that a failure is found again.

import { seeded } from './generate-pairs.ts';

const PIECES = [
  ...'\\frac{ } { \\sqrt ^ _ \\boxed{ $ \\( \\] ( ) [ | \\left \\right \\text{ = < \\le , ; . ? ! % ^\\circ 1 7/0 e9 e99999 x y pi i'.split(
    ' ',
  ),
  ...'\\infty \\cup \\{ \\} \\begin{pmatrix} \\end{pmatrix} & \\\\ \\pm !! \\sum_{ \\int \\lim \\cdot \\times * ** / 2^ ^9^9^9 #### A (B)'.split(
    ' ',
  ),
  ...[
    'or ',
    'and ',
    'not ',
    '\\ne ',
    '\\log 0',
    'million ',
    'foo ',
    'cm ',
    'apples ',
    'the answer is ',
    'final answer: ',
  ],
  ...[
    '\n',
    ' ',
    '∞',
    'é',
    '中',
    '\u0000',
    '\ud800',
    '0.\\overline{',
    '1,234',
    '\\binom',
    '<answer>',
    '</answer>',
    '</think>',
  ],
  ...[
    '<|im_end|>',
    '\\overline',
    '\\vec',
    'mod ',
    '\\pmod',
    '^{',
    '_{',
    '9'.repeat(40),
    '12:30',
    'January 5',
    'Yes',
    'none',
  ],
];

export interface Fuzzed {
  readonly solution: string;
  readonly answer: string;
  readonly cut: boolean;
}

export function* fuzzAnswers(
  seed: number,
  count: number,
  pairs: readonly (readonly [string, string])[],
): Generator<Fuzzed> {
  const random = seeded(seed);
  const pick = <T>(list: readonly T[]): T => list[random.int(0, list.length - 1)] as T;
  const glued = (most: number): string => Array.from({ length: random.int(1, most) }, () => pick(PIECES)).join('');
  const mutate = (text: string): string => {
    const [at, length] = [random.int(0, text.length), random.int(1, 6)];
    const [head, tail] = [text.slice(0, at), text.slice(at)];
    return pick([
      () => head + pick(PIECES) + tail,
      () => head + tail.slice(length),
      () => tail + head,
      () => text + pick(PIECES),
      () => pick(PIECES) + text,
      () => head,
      () => head + tail.slice(0, length).repeat(random.int(2, 40)) + tail.slice(length),
    ])();
  };
  const repeated = (): string => {
    const unit = glued(3);
    return unit.repeat(Math.ceil(random.int(10, 4_000) / unit.length));
  };
  for (let n = 0; n < count; n++) {
    const [solution, honest] = pick(pairs);
    const answer = pick([
      () => mutate(mutate(honest)),
      () => mutate(honest),
      () => mutate(`\\boxed{${solution}}`),
      () => glued(25),
      () => `\\boxed{${glued(25)}}`,
      repeated,
    ])();
    yield { solution, answer, cut: random() < 0.2 };
  }
}
