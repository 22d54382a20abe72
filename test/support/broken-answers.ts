// Answers by hand, whole and broken: the calls in them, the fault of each, and the text that remains.

import type { ToolSchema } from '../../environments/tools/formats/format.ts';
import { rowsOf } from './rows.ts';

/** A tool with a parameter of each type, and one that runs code. */
export const TOOLS = rowsOf<ToolSchema>('./broken-answers-tools.jsonl', import.meta.url);

interface Answer {
  readonly format: string;
  readonly text: string;
  /** The calls in it, or the fault of each. */
  readonly calls: readonly unknown[];
  /** The text that remains. */
  readonly content?: string;
}

export const ANSWERS: readonly Answer[] = rowsOf<Answer>('./broken-answers.jsonl', import.meta.url).map((row) => ({
  ...row,
  content: row.content ?? '',
}));
