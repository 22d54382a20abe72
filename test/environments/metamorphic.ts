// Answers with the verdict they must get: a value in another dress (how it is set and said), order or spelling, and
// another value, or the value taken back, in the same dresses.

import type { Random } from './generate-pairs.ts';
import { KINDS } from './metamorphic-values.ts';

/** A change of the text; undefined where it cannot be made. */
type Change = (text: string, r: Random) => string | undefined;

/** How an answer is set and said. None of it changes a value. */
const DRESS: readonly Change[] = [
  (t) => t.replaceAll('\\frac', '\\dfrac'),
  (t) => t.replaceAll('\\frac', '\\tfrac'),
  (t) => (/^[([]|,/.test(t) || /[a-z]{3}$/.test(t) ? undefined : `{${t}}`),
  (t) => `\\displaystyle ${t}`,
  (t) => `\\, ${t} \\,`,
  (t) => `  ${t}  `,
  (t) => (/\\text|[A-Za-z]{2}/.test(t) ? undefined : t.replaceAll(/ ?([+=<]) ?/g, '$1')),
  (t) => (/\\text|[A-Za-z]{2}/.test(t) ? undefined : t.replaceAll(/ ?([+=]) ?/g, '  $1  ')),
  (t) => (/^-\d/.test(t) ? t.replace('-', '−') : undefined),
  (t) => t.replaceAll('\\sqrt{', '\\sqrt {'),
  (t) => t.replaceAll('\\le ', '\\leq ').replaceAll('\\ge ', '\\geq '),
  (t) => t.replaceAll('\\cdot', '\\times'),
];
const SAY: readonly Change[] = [
  (t) => `\\boxed{${t}}`,
  (t) => `$\\boxed{${t}}$`,
  (t) => `\\[\\boxed{${t}}\\]`,
  (t) => `\\boxed{$${t}$}`,
  (t) => `\\fbox{${t}}`,
  (t) => `The answer is \\boxed{${t}}.`,
  (t) => `The answer is $${t}$.`,
  (t) => `**Final answer:** $${t}$`,
  (t) => `Therefore, the final answer is: $\\boxed{${t}}$. I hope it is correct.`,
  (t) => `Step 1: we try 12 and 13.\nStep 2: both fail, so $x_1 = 7$ is out.\n\n**Answer:** $\\boxed{${t}}$`,
  (t) => `<think>\nIs it \\boxed{999}? No.\n</think>\n\n$$\\boxed{${t}}$$`,
  (t) => `At first I had \\boxed{999}, which is off by one. The correct answer is \\boxed{${t}}.`,
  (t) => `\\boxed{${t}}\n\nThis uses Lemma 2 of Section 3.`,
  (t) => `<answer>\\boxed{${t}}</answer>`,
  (t) => `\\boxed{${t}}<|im_end|>`,
  (t) => `### Final Answer\n\n$$\n\\boxed{${t}}\n$$`,
];
/** How a true value is taken back. */
const UNSAY: readonly Change[] = [
  (t) => `\\boxed{\\text{not } ${t}}`,
  (t) => `\\boxed{${t}} or \\boxed{31337}`,
  (t) => `\\boxed{${t} \\text{ or } 31337}`,
  (t) => `\\boxed{\\text{anything but } ${t}}`,
  (t) => `<think>\\boxed{${t}}</think> \\boxed{31337}`,
  (t) => `\\boxed{${t}} is wrong. The answer is \\boxed{31337}.`,
];

export interface Metamorphic {
  readonly kind: string;
  readonly solution: string;
  readonly answer: string;
  readonly expected: 'right' | 'wrong';
}

export function* metamorphic(r: Random, values: number): Generator<Metamorphic> {
  for (let made = 0; made < values;) {
    const value = r.pick(KINDS)(r);
    if (!value) continue;
    made++;
    const { kind, text: solution } = value;
    const dressed = (text: string): string => {
      let now = text;
      for (let n = r.int(0, 2); n > 0; n--) now = r.pick(DRESS)(now, r) ?? now;
      return r.pick(SAY)(now, r) ?? now;
    };
    for (const same of [solution, solution, r.pick(value.same), r.pick(value.same)])
      yield { kind, solution, answer: dressed(same), expected: 'right' };
    for (const other of [r.pick(value.other), r.pick(value.other)])
      yield { kind, solution, answer: dressed(other), expected: 'wrong' };
    yield { kind, solution, answer: r.pick(UNSAY)(solution, r) ?? '', expected: 'wrong' };
  }
}
