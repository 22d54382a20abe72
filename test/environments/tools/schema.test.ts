// Schemas of tools, and arguments against them.

import { describe, expect, test } from 'vitest';
import { describedTool } from '../../../environments/tools/described.ts';
import { argumentsFlaw, isTooDeep, schemaFlaw } from '../../../environments/tools/schema.ts';

const NONE: readonly (readonly [unknown, string])[] = [
  ['text', 'parameters: "text"'],
  [null, 'parameters: null'],
  [[], 'parameters: []'],
  [{ type: 'strin' }, '`type` is "strin"'],
  [{ type: [] }, '`type` is []'],
  [{ type: 'array', items: {} }, 'arguments are an object'],
  [{ type: 'object', properties: [] }, '`properties` is []'],
  [{ type: 'object', properties: { a: { type: 5 } } }, '`properties.a.type` is 5'],
  [{ type: 'object', properties: { a: 'string' } }, '`properties.a` is "string"'],
  [{ type: 'object', required: 'a' }, '`required` is "a"'],
  [{ type: 'object', properties: { a: { type: 'string', minLength: 'x' } } }, '`properties.a.minLength`'],
  [{ type: 'object', properties: { a: { pattern: '(' } } }, 'Invalid regular expression: /(/'],
  [{ type: 'object', properties: { a: { enum: [] } } }, 'enum must have non-empty array'],
  [{ type: 'object', properties: { a: { anyOf: {} } } }, '`properties.a.anyOf`'],
  [{ type: 'object', properties: { a: { items: 5 } } }, '`properties.a.items` is 5'],
  [{ allOf: [{ $ref: '#' }] }, 'Maximum call stack size exceeded'],
  [{ $ref: '#/$defs/none' }, "can't resolve reference #/$defs/none"],
];

describe('a schema of a tool', () => {
  test.each(NONE)('that is none is refused with its place: %j', (schema, said) => {
    expect(schemaFlaw(schema)).toContain(said);
  });

  test.each([
    {},
    { type: 'object' },
    { type: 'object', properties: { a: true } },
    { $schema: 'http://json-schema.org/draft-07/schema#', properties: { a: { type: 'array', items: [{}, {}] } } },
    { $schema: 'https://json-schema.org/draft/2020-12/schema', $id: 'same', properties: { a: { prefixItems: [{}] } } },
    { $id: 'same', properties: { when: { type: 'string', format: 'date-time' } } },
    { $defs: { n: { type: 'null' } }, properties: { a: { $ref: '#/$defs/n' } } },
  ])('that is one is taken: %j', (schema) => {
    expect(schemaFlaw(schema)).toBeUndefined();
  });

  const OBJECT = { type: 'object', properties: {} };
  test.each<[object | undefined, object]>([
    [undefined, OBJECT],
    [{}, OBJECT],
    [{ $schema: 'http://json-schema.org/draft-07/schema#' }, { $schema: expect.any(String), ...OBJECT }],
    [{ anyOf: [{ required: ['a'] }] }, { anyOf: [{ required: ['a'] }], ...OBJECT }],
    [{ type: 'object' }, OBJECT],
    [{ properties: { a: {} } }, { type: 'object', properties: { a: {} } }],
  ])('is told with its type and properties, which endpoints want: %j', (parameters, told) => {
    expect(describedTool('x', { name: 'a', parameters }, 0, null).parameters).toEqual(told);
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
    [{}, "must have required property 'n'"],
    [{ n: '1' }, '`n`'],
    [{ n: 1.5 }, '`n`'],
    [{ n: 0 }, '`n`'],
    [{ n: 1, s: 'c' }, '`s` is "c" and must be equal to one of the allowed values: ["a","b"]'],
    [{ n: 1, l: [1, 'x'] }, '`l.1`'],
    [{ n: 1, x: 1 }, 'must NOT have additional properties'],
    [[1], 'the arguments'],
  ] as const)('%j fit or are told why: %s', (given, said) => {
    const flaw = argumentsFlaw(schema, given as never);
    if (said === undefined) expect(flaw).toBeUndefined();
    else expect(flaw).toContain(said);
  });

  test.each([
    // Ajv's own word: its validator would answer later, and everything would fit until then.
    [{ $async: true, properties: { a: { type: 'string' } } }, { a: 5 }, '`a` is 5'],
    [
      { properties: { v: { type: 'number' }, next: { $ref: '#' } } },
      { next: { next: { v: 'x' } } },
      '`next.next.v` is "x"',
    ],
    [{ required: ['toString'] }, {}, "required property 'toString'"],
  ])('of a schema that holds itself or an odd word are compared: %j', (odd, given, said) => {
    expect(schemaFlaw(odd)).toBeUndefined();
    expect(argumentsFlaw(odd, given)).toContain(said);
  });
});
