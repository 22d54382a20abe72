// The known layout that a row without a question, or without an answer, is nearest to: for its refusal.

import { oneLine, short } from '../../domain/text/foreign-text.ts';
import type { RowObject } from './names.ts';

/** The fields that a row of each has to have. */
const LAYOUTS: Readonly<Record<string, readonly string[]>> = {
  GSM8K: ['question', 'answer'],
  MATH: ['problem', 'solution'],
  verl: ['prompt', 'reward_model'],
  MMLU: ['question', 'choices', 'answer'],
  'MMLU-Pro': ['question', 'options', 'answer'],
  ARC: ['question', 'choices', 'answerKey'],
  GPQA: ['Question', 'Correct Answer', 'Incorrect Answer 1'],
  HumanEval: ['prompt', 'test', 'entry_point'],
  MBPP: ['text', 'test_list'],
  LiveCodeBench: ['question_content', 'public_test_cases', 'private_test_cases'],
  IFEval: ['prompt', 'instruction_id_list', 'kwargs'],
};

const MOST_NAMES = 20;

export const namesText = (names: readonly string[]): string =>
  names.length === 0
    ? 'no field'
    : names
        .slice(0, MOST_NAMES)
        .map((name) => short(oneLine(name), 40))
        .join(', ') + (names.length > MOST_NAMES ? ', …' : '');

/** `The row has: quesiton, anwser. The nearest layout is GSM8K, of question, answer. …` */
export function nearText(row: RowObject): string {
  const names = Object.keys(row);
  const has = `The row has: ${namesText(names)}.`;
  const found = Object.entries(LAYOUTS).map(([layout, fields]) => {
    const known = fields.map((field) => [field, nearest(names, field)] as const);
    return { layout, fields, known, share: known.filter(([, name]) => name !== undefined).length / fields.length };
  });
  const best = found.reduce((one, other) => (other.share > one.share ? other : one));
  if (best.share === 0) return has;
  const other = best.known.filter(([field, name]) => name !== undefined && name !== field);
  const fields = `\`fields: { ${other.map((pair) => pair.join(': ')).join(', ')} }\``;
  const page = other.length > 0 ? ` Rename them, or name them in a page (benchmarks/README.md): ${fields}.` : '';
  return `${has} The nearest layout is ${best.layout}, of ${best.fields.join(', ')}.${page}`;
}

/** The same name, or one whose letters are. */
const nearest = (names: readonly string[], field: string): string | undefined =>
  names.find((name) => name === field) ?? names.find((name) => isNear(name.toLowerCase(), field.toLowerCase()));

/** Half of the pairs of letters of the longer name stand in the other one, too; or letters are swapped. */
function isNear(one: string, other: string): boolean {
  const [few, many] = [pairsOf(one), pairsOf(other)].sort((a, b) => a.length - b.length) as [string[], string[]];
  const isSwapped = one.length > 2 && lettersOf(one) === lettersOf(other);
  return isSwapped || (many.length > 0 && few.filter((pair) => many.includes(pair)).length * 2 >= many.length);
}

const lettersOf = (name: string): string => [...name].sort().join('');

/** Pairs of the letters of a name. */
export const pairsOf = (name: string): string[] => {
  const letters = name.replace(/[^a-z0-9]/g, '');
  return [...letters].slice(1).map((letter, i) => `${letters[i]}${letter}`);
};
