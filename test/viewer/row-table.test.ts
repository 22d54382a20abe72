// The rows of a run as bytes: each comes back as it was put, whatever its texts and numbers are, and is found by its rollout.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inOrder, type Row, rowKey } from '../../viewer/model/row.ts';
import { plainRow } from '../../viewer/row-bytes.ts';
import { RowTable } from '../../viewer/row-table.ts';
import { ANY_CHAR } from '../domain/some.ts';

const text = fc.string({ unit: ANY_CHAR, maxLength: 40 });
/** A planted record has what it likes. */
const number = fc.oneof(fc.nat(), fc.double({ noNaN: true }), fc.constantFrom(-1, 1e300, 2 ** 40));
const glance = fc.nat(6).chain((n) =>
  fc.record({
    tokens: fc.array(fc.option(number, { nil: null }), { minLength: n, maxLength: n }),
    ms: fc.array(number, { minLength: n, maxLength: n }),
    finish: text,
    reasons: fc.array(text, { minLength: n, maxLength: n }),
    extracted: fc.option(text, { nil: null }),
    server: fc.option(text, { nil: null }),
    versions: fc.tuple(number, number),
  }),
);
const someRow: fc.Arbitrary<Row> = fc
  .record({
    index: fc.option(fc.nat(), { nil: null }),
    query: fc.oneof(text, fc.constantFrom('a', 'b')),
    title: text,
    sample: fc.nat(3),
    attempt: fc.integer({ min: 1, max: 2 }),
    state: fc.constantFrom(
      'complete' as const,
      'failed' as const,
      'undecided' as const,
      'cancelled' as const,
      'open' as const,
    ),
    stop: fc.constantFrom(null, 'max-turns' as const),
    reason: fc.option(text, { nil: null }),
    success: fc.array(fc.constantFrom(0 as const, 1 as const, null), { maxLength: 5 }),
    reward: fc.option(number, { nil: null }),
    endedAt: fc.option(number, { nil: null }),
    turns: fc.option(glance, { nil: null }),
    more: fc.record(
      { steered: fc.constant(true as const), flaw: text, marks: fc.constant(['note' as const]) },
      { requiredKeys: [] },
    ),
    answers: fc.option(fc.array(fc.nat(9), { maxLength: 4 }), { nil: undefined }),
  })
  .map(({ more, answers, ...row }) => ({
    ...row,
    turns: row.turns && { ...row.turns, ...(answers && { answers }) },
    ...more,
  }));

/** As JSON has it: without the sign of a zero. */
const asSent = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('the rows of a run', () => {
  test('come back as they were put last, in order, and are found by their rollout', () => {
    fc.assert(
      fc.property(fc.array(someRow, { maxLength: 60 }), (rows) => {
        const table = new RowTable();
        for (const row of rows) table.put(row);
        table.publish();
        const wanted = [...new Map(rows.map((row) => [rowKey(row), row])).values()];
        expect(asSent(table.listed())).toEqual(asSent(wanted.toSorted(inOrder)));
        expect(table.size).toBe(wanted.length);
        expect(table.read).toBe(wanted.filter(({ turns }) => turns !== null).length);
        expect(new Set(table.unread(100).map(rowKey))).toEqual(
          new Set(wanted.filter(({ turns }) => turns === null).map(rowKey)),
        );
        expect(new Set(table.open().map(rowKey))).toEqual(
          new Set(wanted.filter(({ state }) => state === 'open').map(rowKey)),
        );
        for (const row of wanted) {
          expect(table.has(row)).toBe(true);
          // A copy of its own: it may be spread.
          expect(asSent({ ...table.get(row)! })).toEqual(asSent(row));
        }
        for (const row of table.listed()) expect(asSent({ ...plainRow(row) })).toEqual(asSent(row));
        expect(table.get({ query: 'none of them', sample: 0, attempt: 1 })).toBeUndefined();
      }),
    );
  });

  test('may be of any number and length', () => {
    const table = new RowTable();
    const turns = 30_000;
    const list = Array.from({ length: turns }, (_, i) => i);
    const row = (i: number, more: Partial<Row> = {}): Row => ({
      ...{ index: i, query: `q${i}`, title: 'é'.repeat(120), sample: 0, attempt: 1, state: 'complete' as const },
      ...{
        stop: 'max-turns' as const,
        reason: null,
        success: [1] as const,
        reward: 1,
        endedAt: 5,
        turns: null,
        ...more,
      },
    });
    const many = {
      ...{ tokens: list, ms: list, finish: 's'.repeat(turns), reasons: list.map(() => 'equal') },
      ...{ extracted: 'x'.repeat(3_000_000), server: null, versions: [0, 1] as const },
    };
    for (let i = 0; i < 20_000; i++) table.put(row(i));
    table.put(row(7, { turns: many }));
    expect(table.size).toBe(20_000);
    expect(table.get(row(7))).toEqual(row(7, { turns: many }));
    expect(table.get(row(19_999))).toEqual(row(19_999));
  });
});
