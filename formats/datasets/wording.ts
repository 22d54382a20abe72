// The words of a run around a row: a system message, and a template over the row's fields in Jinja, which takes the place
// of its question. A field that the template prints and the row lacks is a bad row, not an empty word.

import type { Prompt, Wording } from '../../domain/query/query.ts';
import { firstWords, short } from '../../domain/text/foreign-text.ts';
import { choicesOf, type Unread } from './choices.ts';
import { inLayout, isOfAnotherDay } from './renamed-fields.ts';
import { questionIn } from './program-tests.ts';
import { found, PROMPTS, type RowObject } from './names.ts';
import { failRow, checkedText } from './row-fault.ts';
import { isSaid, mustFit, promptOf, withChoices } from './prompt.ts';
import { type PromptTemplate, promptTemplate, Undefined } from './render-prompt.ts';

export interface Asker {
  /** The row as it is read. Throws a RowError. */
  readonly arranged: (row: RowObject) => RowObject;
  /** The row is not played, and not bad. */
  readonly leavesOut: (row: unknown) => boolean;
  /** Instructions are followed loosely. */
  readonly loose: boolean;
  /** The field with a row's id, where the layout names one. */
  readonly idField: string | undefined;
  /** Whether anything is asked of the row's model. */
  readonly asks: (row: RowObject) => boolean;
  /** Throws a RowError. */
  readonly promptOf: (row: RowObject, unread?: Unread) => Prompt;
  /** The first words of what it asks itself, where a template stands around them. */
  readonly titleOf: (row: RowObject) => string | undefined;
}

/** The rows' own questions. */
const ITS_OWN: Pick<Asker, 'asks' | 'promptOf' | 'titleOf'> = {
  asks: (row) => found(questionIn(row), PROMPTS).length > 0,
  promptOf: (row, unread) => promptOf(questionIn(row), unread),
  titleOf: () => undefined,
};
export const OWN_QUESTIONS: Asker = {
  ...ITS_OWN,
  arranged: (row) => row,
  leavesOut: () => false,
  loose: false,
  idField: undefined,
};

/** Throws a SyntaxError for a template that is none. */
export function askerOf(wording: Wording = {}): Asker {
  const { system, template, fields } = wording;
  const words = template === undefined ? ITS_OWN : templated(template);
  const asker: Asker = {
    ...words,
    arranged: (row) => inLayout(row, wording),
    leavesOut: (row) => isOfAnotherDay(row, wording),
    loose: wording.loose ?? false,
    idField: fields?.['id'],
  };
  if (system === undefined) return asker;
  return {
    ...asker,
    promptOf(row, unread) {
      const prompt = words.promptOf(row, unread);
      if (prompt.kind === 'text')
        return failRow('prompt', 'is a plain text, which takes no system message', 'Give a question, or --prompt.');
      const rest = prompt.messages.filter(({ role }) => role !== 'system');
      return { kind: 'messages', messages: [{ role: 'system', content: system }, ...rest] };
    },
  };
}

/** Questions of known layouts, before the last field that a template prints. */
const QUESTIONS = [...PROMPTS, 'text', 'question_content'];
const MOST_OF_TITLE = 120;

function templated(text: string): typeof ITS_OWN {
  const template = promptTemplate(text);
  const printed = [...text.matchAll(/\{\{-?\s*([a-z_]\w*)/gi)].map(([, name]) => name!);
  return {
    asks: () => true,
    titleOf(row) {
      const own = [...QUESTIONS, ...printed.toReversed()].map((name) => row[name]);
      const text = own.find((value) => typeof value === 'string' && value.trim() !== '');
      return typeof text === 'string' ? firstWords(text, MOST_OF_TITLE) : undefined;
    },
    promptOf(row, unread) {
      const fields = Object.fromEntries(Object.entries(row).filter(([, value]) => value != null));
      const text = checkedText('prompt', rendered(template, fields));
      const content = withChoices(text, choicesOf(row, unread), isSaid);
      const prompt: Prompt = { kind: 'messages', messages: [{ role: 'user', content }] };
      mustFit('prompt', prompt);
      return prompt;
    },
  };
}

function rendered(template: PromptTemplate, fields: RowObject): string {
  try {
    return template.render(fields);
  } catch (error) {
    if (error instanceof Undefined)
      return failRow(
        error.printed,
        error.printed === null
          ? 'lacks what the prompt template prints'
          : 'is missing, and the prompt template prints it',
        `Where it may be: {{ ${error.printed ?? '…'} | default('') }}.`,
      );
    const said = short(error instanceof Error ? error.message : String(error), 200);
    return failRow(null, `does not fit the prompt template: ${said}`, 'Change the row, or the template.');
  }
}
