// What a model that judges chooses from, and the prompt of a benchmark that asks it: the part of a rubric that a page may hold.

import * as f from '../schema/fields.ts';

const TEXT = f.storableText(1);
/** The judge writes it behind its mark, alone on a line. */
export const LABEL: f.Test<string> = [
  (value) => f.storableText(1, 100)[0](value) && /^[^\n\r*`:]+$/.test(value as string),
  'one line of 1 to 100 characters, without `*`, backticks and colons',
];
const CHOICE = f.objectOf({
  choice: LABEL,
  means: f.maybe(TEXT),
  verdict: f.maybe(f.oneOf('right', 'wrong')),
  reward: f.maybe(f.realNumber(-1e30, 1e30)),
});
export const CHOICES = f.listOf(CHOICE, 2, 100);

/** All that the judge is told: `{{ question }}`, `{{ reference }}` and `{{ answer }}` stand for texts. It replies with a choice alone. */
export const OWN_PROMPT: f.Test<string> = [
  (value) => TEXT[0](value) && /\{\{ answer \}\}/.test(value as string),
  'a text that holds {{ answer }}',
];

/** Each text once: what stands in an answer is not replaced. */
export const filledIn = (
  prompt: string,
  texts: Readonly<Record<'question' | 'reference' | 'answer', string>>,
): string => prompt.replace(/\{\{ (question|reference|answer) \}\}/g, (_, name: keyof typeof texts) => texts[name]);

export const PAGE_RUBRIC = f.objectOf({ prompt: OWN_PROMPT, choices: CHOICES });
export type PageRubric = f.TypeOf<typeof PAGE_RUBRIC>;
