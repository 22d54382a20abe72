// Schemas of tools, and arguments against them.

import { describe, expect, test } from 'vitest';
import { describedTool, argumentsFlaw, isTooDeep, schemaFlaw } from '../../../environments/tools/described.ts';
import { rowsOf } from '../../support/rows.ts';

interface Row {
  readonly of: 'none' | 'one' | 'arguments';
  readonly schema: object;
  readonly given?: object;
  /** In the flaw, if there is one. */
  readonly said?: string;
}
const ROWS = rowsOf<Row>('./schemas.jsonl', import.meta.url);

describe('a schema of a tool', () => {
  test.each(ROWS)('is one or is refused with its place: $schema', ({ of, schema, said }) => {
    const flaw = schemaFlaw(schema);
    if (of === 'none') expect(flaw).toContain(said);
    else expect(flaw).toBeUndefined();
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
  test.each(ROWS.filter(({ of }) => of === 'arguments'))(
    '$given fit $schema or are told why: $said',
    ({ schema, given, said }) => {
      const flaw = argumentsFlaw(schema as never, given as never);
      if (said === undefined) expect(flaw).toBeUndefined();
      else expect(flaw).toContain(said);
    },
  );
});
