// A value of a Parquet column as JSON would have it: 64-bit integers as numbers, float32 and decimals by the digits that
// they were written with, dates as text, missing values as null.

import type { SchemaTree } from 'hyparquet';

/** The value in place of a text whose bytes are not UTF-8. */
export const UNREADABLE: unique symbol = Symbol('unreadable');

export function plainValue(value: unknown, node: SchemaTree | undefined): unknown {
  if (value === undefined || value === null) return null;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number') return plainNumber(value, node);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (typeof value !== 'object') return value;
  if (ArrayBuffer.isView(value)) return UNREADABLE;
  if (Array.isArray(value)) return all(value.map((item) => plainValue(item, elementOf(node))));
  const made: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    const child = node?.children.find(({ element }) => element.name === name);
    const plain = plainValue(item, child);
    if (plain === UNREADABLE) return UNREADABLE;
    Object.defineProperty(made, name, { value: plain, enumerable: true, writable: true, configurable: true });
  }
  return made;
}

const all = (items: readonly unknown[]): unknown => (items.includes(UNREADABLE) ? UNREADABLE : items);

/** The node of a list's element: `list.element`, or the repeated node itself. */
function elementOf(node: SchemaTree | undefined): SchemaTree | undefined {
  if (node?.element.repetition_type === 'REPEATED') return node;
  const [repeated] = node?.children ?? [];
  return repeated?.children.length === 1 ? repeated.children[0] : repeated;
}

function plainNumber(value: number, node: SchemaTree | undefined): number {
  const element = node?.element;
  if (element?.converted_type === 'DECIMAL' && Number.isFinite(value)) return Number(value.toFixed(element.scale ?? 0));
  if (element?.type !== 'FLOAT' || Number.isInteger(value)) return value;
  // The shortest decimal that is this float32.
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}
