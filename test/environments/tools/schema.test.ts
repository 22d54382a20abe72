// Schemas of tools, and arguments against them.

import { describe, expect, test } from 'vitest';
import { argumentsFlaw, isTooDeep, schemaFlaw } from '../../../environments/tools/schema.ts';

const NONE: readonly (readonly [unknown, string])[] = [
  ['text', 'parameters is "text"'],
  [null, 'parameters is null'],
  [[], 'parameters is []'],
  [{ type: 'strin' }, 'parameters.type is "strin"'],
  [{ type: [] }, 'parameters.type'],
  [{ type: 'array', items: {} }, 'arguments are an object'],
  [{ type: 'object', properties: [] }, 'parameters.properties is []'],
  [{ type: 'object', properties: { a: { type: 5 } } }, 'parameters.properties.a.type is 5'],
  [{ type: 'object', properties: { a: 'string' } }, 'parameters.properties.a is "string"'],
  [{ type: 'object', required: 'a' }, 'parameters.required is "a"'],
  [
    { type: 'object', required: ['b'], properties: { a: {} }, additionalProperties: false },
    'parameters.required names "b"',
  ],
  [{ type: 'object', properties: { a: { type: 'string', minLength: 'x' } } }, 'parameters.properties.a.minLength'],
  [{ type: 'object', properties: { a: { pattern: '(' } } }, 'parameters.properties.a.pattern'],
  [{ type: 'object', properties: { a: { enum: [] } } }, 'parameters.properties.a.enum'],
  [{ type: 'object', properties: { a: { anyOf: {} } } }, 'parameters.properties.a.anyOf'],
  [{ type: 'object', properties: { a: { items: 5 } } }, 'parameters.properties.a.items'],
  [{ $ref: '#/$defs/none' }, 'parameters cannot be used'],
];

describe('a schema of a tool', () => {
  test.each(NONE)('that is none is refused with its place: %j', (schema, said) => {
    expect(schemaFlaw(schema)).toContain(said);
  });

  test.each([
    {},
    { type: 'object' },
    { type: 'object', properties: { a: true } },
    { $defs: { n: { type: 'null' } }, properties: { a: { $ref: '#/$defs/n' } } },
  ])('that is one is taken: %j', (schema) => {
    expect(schemaFlaw(schema)).toBeUndefined();
  });

  test('nested deeper than a stack is refused, and ends nothing', () => {
    let schema: object = {};
    let value: unknown[] = [];
    for (let i = 0; i < 100_000; i++) [schema, value] = [{ type: 'object', properties: { a: schema } }, [value]];
    expect(schemaFlaw(schema)).toContain('deeper than 64');
    expect(isTooDeep(value)).toBe(true);
  });
});

describe('arguments', () => {
  const schema = {
    type: 'object',
    properties: {
      n: { type: 'integer', minimum: 1 },
      s: { type: 'string', enum: ['a', 'b'] },
      l: { type: 'array', items: { type: 'number' } },
    },
    required: ['n'],
    additionalProperties: false,
  };
  test.each([
    [{ n: 1 }, undefined],
    [{ n: 3, s: 'b', l: [1, 2.5] }, undefined],
    [{}, '`n`'],
    [{ n: '1' }, '`n`'],
    [{ n: 1.5 }, '`n`'],
    [{ n: 0 }, '`n`'],
    [{ n: 1, s: 'c' }, '`s`'],
    [{ n: 1, l: [1, 'x'] }, '`l.1`'],
    [{ n: 1, x: 1 }, 'x'],
    [[1], 'the arguments'],
  ] as const)('%j fit or are told why: %s', (given, said) => {
    const flaw = argumentsFlaw(schema, given as never);
    if (said === undefined) expect(flaw).toBeUndefined();
    else expect(flaw).toContain(said);
  });
});
