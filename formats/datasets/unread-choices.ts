// Choices under a name, or in a place, that choices.ts does not read: a row whose answer is the letter of such a choice asks
// what no model can know, and is a bad row. A list that the prompt shows, and other names of the answer, are no such choices.

import { lastBoxed } from '../../domain/text/boxed-answer.ts';
import { LETTERS, listedChoices } from '../../packages/judge/index.ts';
import { choicesFrom, itemsIn } from './choices.ts';
import { ANSWER_FIELDS, ID_FIELDS, PROMPTS, type RowObject, WORKED } from './names.ts';
import { isObject } from '../../domain/schema/fields.ts';
import { failRow, RowError, shown } from './row-fault.ts';

interface List {
  /** The field, or the first of the columns. */
  readonly field: string;
  readonly texts: readonly string[];
  /** The name without a column's letter. */
  readonly name: string;
}

/** Names of choices: a number beside them is a place among them, and a text among them is one of them. */
const CHOICES = /(?:choices?|options?|opts)(?:[ _-]?list)?$/i;
const ANSWERED = /^(?:mc|possible)?[ _-]?ans(?:wers?)?$/i;
const NAMED = new RegExp(`${CHOICES.source}|${ANSWERED.source}|(?:alternatives?|candidates?|targets)$`, 'i');

const FIX =
  'Name it `choices`, or columns `A`, `B` and so on; or list them in the prompt; or leave out what is no choice.';

/** `asked`: the whole prompt. */
export function refuseUnread(row: RowObject, asked: string, solutions: readonly string[]): void {
  const lists = listsIn(row, '').filter(({ texts }) => !texts.every((text) => asked.includes(text)));
  for (const solution of lists.length === 0 ? [] : solutions) {
    const value = (lastBoxed(solution) ?? solution).trim();
    const chosen = lists.find((list) => isOneOf(value, list, asked));
    if (chosen)
      failRow(chosen.field, `is not read as choices, and the answer ${shown(value)} seems to be one of them`, FIX);
  }
}

function isOneOf(value: string, { name, texts }: List, asked: string): boolean {
  if (texts.includes(value)) return CHOICES.test(name);
  if (/^\d{1,2}$/.test(value)) return (CHOICES.test(name) || ANSWERED.test(name)) && Number(value) <= texts.length;
  const [, letter = ''] = /^\(?([A-Za-z])[).]?$/.exec(value) ?? [];
  const place = letter === '' ? -1 : LETTERS.indexOf(letter.toUpperCase());
  if (place < 0 || place >= texts.length || listedChoices(asked).length > place) return false;
  return NAMED.test(name) || (letter === LETTERS[place] && !isMentioned(letter, asked));
}

/** A question about points or persons named by letters: "A" alone is a word. */
const isMentioned = (letter: string, asked: string): boolean =>
  [letter, letter === 'A' ? 'B' : 'A'].every((one) => new RegExp(`(?<![A-Za-z])${one}(?![A-Za-z])`).test(asked));

const READ: readonly string[] = [...PROMPTS, ...ANSWER_FIELDS, ...WORKED, ...ID_FIELDS];

function listsIn(row: RowObject, path: string): List[] {
  const own = Object.entries(row).filter(([name, value]) => value != null && !READ.includes(name.toLowerCase()));
  const lists = own.flatMap(([name, value]): List[] => {
    const texts = textsIn(name, value);
    if (texts) return texts.length < 2 ? [] : [{ field: path + name, texts, name }];
    return path === '' && isObject(value) ? listsIn(value, `${name}.`) : [];
  });
  return [...lists, ...columnsIn(own, path)];
}

/** Undefined if the value is no list of texts. */
function textsIn(name: string, value: unknown): readonly string[] | undefined {
  const isList = Array.isArray(value)
    ? value.every((item) => typeof item === 'string')
    : isObject(value) && Object.keys(value).every((key) => /^[A-Za-z]$/.test(key));
  if (!isList && !(typeof value === 'string' ? CHOICES : NAMED).test(name)) return undefined;
  try {
    return choicesFrom(name, itemsIn(name, value) ?? []).texts;
  } catch (error) {
    if (!(error instanceof RowError)) throw error;
    if (typeof value === 'string') return value.split(/[,;|\n]/);
    return Array.isArray(value) && NAMED.test(name) ? value.map((item) => JSON.stringify(item)) : undefined;
  }
}

/** `answerA`, `mc_answer1`, `ans0`, `candidate_0`, `1`, `A)`. */
const COLUMN = /^(.*?)[ _-]?\(?((?<![A-Za-z])[a-z]|(?<![A-Z])[A-Z]|(?<!\d)\d{1,2})[).]?$/;

function columnsIn(own: readonly (readonly [string, unknown])[], path: string): List[] {
  const groups = new Map<string, Map<string, readonly [string, string]>>();
  for (const [name, value] of own) {
    const [, prefix = '', label = ''] = COLUMN.exec(name) ?? [];
    if (label === '' || (typeof value !== 'string' && !(typeof value === 'number' && NAMED.test(prefix)))) continue;
    const group = groups.get(prefix) ?? new Map<string, readonly [string, string]>();
    groups.set(prefix, group.set(label, [name, String(value)]));
  }
  return [...groups].flatMap(([prefix, columns]) =>
    [LETTERS, LETTERS.toLowerCase(), '0123456789', '123456789'].flatMap((order) => {
      const missing = [...order].findIndex((label) => !columns.has(label));
      const found = [...order.slice(0, missing < 0 ? order.length : missing)].map((label) => columns.get(label)!);
      const field = `${path}${found[0]?.[0] ?? ''}`;
      const name = prefix === '' && order.startsWith('1') ? 'choices' : prefix;
      return found.length < 2 ? [] : [{ field, texts: found.map(([, text]) => text), name }];
    }),
  );
}
