// Answers by hand, whole and broken: the calls in them, the fault of each, and the text that remains.

import type { ToolSchema } from '../../environments/tools/formats/format.ts';
import { rowsOf } from './rows.ts';

export const TOOLS: readonly ToolSchema[] = [
  {
    name: 'f',
    description: 'Does.',
    parameters: {
      type: 'object',
      properties: {
        n: { type: 'integer' },
        s: { type: 'string' },
        b: { type: 'boolean' },
        o: { $ref: '#/$defs/Point' },
        u: { type: ['integer', 'null', 'string'] },
        e: { enum: [1, 'one'] },
        a: {},
      },
      $defs: { Point: { type: 'object', properties: { x: { type: 'number' } } } },
    },
  },
  { name: 'python', description: 'Runs.', parameters: { type: 'object', properties: { code: { type: 'string' } } } },
];

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
