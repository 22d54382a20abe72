// Tools and calls of them from a seed: nested JSON, unicode, quotes, numbers, tags of every format inside strings.

import type { ToolSchema } from '../../environments/tools/formats/format.ts';
import { someText, someWord, type RandomSource } from './texts.ts';
import type { Meant } from './tool-families.ts';

const TAGS = [
  '</tool_call>',
  '<tool_call>',
  '</function>',
  '</parameter>',
  '</arg_value>',
  '<think>',
  '</think>',
  '[TOOL_CALLS]',
  '[ARGS]{"a": 1}',
  '<|call|>',
  '<|end|>',
  '<｜tool▁call▁end｜>',
  '\n```\n',
  '"}]}',
  '{"name": "search", "arguments": {}}',
  "'it''s'",
  '\\',
  '\\n',
  '\\"',
  'None',
  'true',
  ' 12 ',
];
const TYPES = ['string', 'string', 'integer', 'number', 'boolean', 'object', 'array', 'nullable', 'any'] as const;

type Kind = (typeof TYPES)[number];

interface Limits {
  readonly mostCalls: number;
  readonly typed: boolean;
}

export interface Task {
  readonly tools: readonly ToolSchema[];
  readonly calls: readonly Meant[];
}

/** One to three tools, and one to `most` calls of them. `typed`: arguments are scalars of one type each. */
export function someTask(random: RandomSource, { mostCalls, typed }: Limits): Task {
  const types = typed ? TYPES.slice(0, 5) : TYPES;
  const kinds = Array.from({ length: 1 + random(3) }, (_, i) => ({
    name: `${pick(random, ['search', 'get_weather', 'fs.read-file', 'añadir', 'x'])}${i}`,
    kinds: Array.from({ length: random(5) }, (): Kind => pick(random, types)),
  }));
  const tools = kinds.map(({ name, kinds }) => ({
    name,
    description: 'A tool.',
    parameters: {
      type: 'object',
      properties: Object.fromEntries(kinds.map((kind, i) => [`p${i}`, schemaOf(kind)])),
    },
  }));
  const calls = Array.from({ length: 1 + random(mostCalls) }, () => {
    const tool = pick(random, kinds);
    return {
      name: tool.name,
      arguments: Object.fromEntries(tool.kinds.map((kind, i) => [`p${i}`, valueOf(random, kind)])),
    };
  });
  return { tools, calls };
}

function schemaOf(kind: Kind) {
  const description = 'A value.';
  if (kind === 'any') return { description };
  if (kind === 'nullable') return { anyOf: [{ type: 'string' }, { type: 'null' }], description };
  return { type: kind, description };
}

function valueOf(random: RandomSource, kind: Kind): unknown {
  switch (kind) {
    case 'string':
      return someString(random);
    case 'integer':
      return random(2) ? random(100) : -random(2 ** 31);
    case 'number':
      return (random(2 ** 30) - 2 ** 29) / 2 ** random(20);
    case 'boolean':
      return random(2) === 0;
    case 'object':
      return someObject(random, 3);
    case 'array':
      return Array.from({ length: random(4) }, () => someValue(random, 2));
    case 'nullable':
      return random(2) ? null : `text ${someString(random)}`;
    // Plain text could be a JSON value too.
    case 'any':
      return random(2) ? someObject(random, 2) : `text ${someWord(random)}`;
  }
}

function someString(random: RandomSource): string {
  if (random(12) === 0) return '';
  const text = someText(random, { extra: TAGS });
  const wrapped = random(8) === 0 ? `\n${text}\n` : text;
  // Tokenizers of some families normalise; an opening tag of an argument inside one is a documented limit.
  return wrapped
    .toWellFormed()
    .normalize('NFC')
    .replaceAll('▁', '_')
    .replaceAll('<parameter=', '')
    .replaceAll('<arg_key>', '');
}

function someValue(random: RandomSource, depth: number): unknown {
  const kind = random(depth > 0 ? 7 : 5);
  if (kind === 0) return null;
  if (kind === 1) return random(2) === 0;
  if (kind === 2) return (random(2 ** 20) - 2 ** 19) / 2 ** random(8);
  if (kind < 5) return someString(random);
  if (kind === 5) return Array.from({ length: random(4) }, () => someValue(random, depth - 1));
  return someObject(random, depth - 1);
}

function someObject(random: RandomSource, depth: number): Record<string, unknown> {
  const keys = Array.from({ length: random(4) }, (_, i) => (random(4) ? `k${i}` : `${someWord(random)} "${i}"`));
  return Object.fromEntries(keys.map((key) => [key, someValue(random, depth)]));
}

function pick<T>(random: RandomSource, list: readonly T[]): T {
  return list[random(list.length)]!;
}
