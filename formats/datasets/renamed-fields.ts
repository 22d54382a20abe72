// The rows of a data set in another layout: fields under the names that are read here, and choices as a list of texts, where a
// template can print them, in an order that follows from a seed and the row; and a window of days.

import { createHash } from 'node:crypto';
import type { Wording } from '../../domain/query/query.ts';
import { shuffled } from '../../domain/run/shuffle.ts';
import { choicesOf } from './choices.ts';
import { CATEGORIES, found, PROMPTS, type RowObject } from './names.ts';
import { isObject } from '../../domain/schema/fields.ts';
import { failRow } from './row-fault.ts';
import { isNaming, placeOfRight } from './stated.ts';

const DAY = /^\d{4}-\d\d-\d\d/;

/** A row of another day than the layout's is left out; one without a day is not. */
export function isOfAnotherDay(row: unknown, { dates }: Wording): boolean {
  const value = dates && isObject(row) ? row[dates.field] : undefined;
  if (!dates || typeof value !== 'string' || !DAY.test(value)) return false;
  const day = value.slice(0, 10);
  return day < (dates.from ?? day) || day > (dates.until ?? day);
}

/** Throws a RowError for a row that lacks what the layout names. */
export function inLayout(row: RowObject, { fields, choices, dates }: Wording): RowObject {
  const day = dates ? row[dates.field] : undefined;
  if (dates && !(typeof day === 'string' && DAY.test(day)))
    return failRow(dates.field, 'is no date', 'The benchmark plays the rows of some days: give such as 2025-01-31.');
  const renamed = fields ? withFields(row, fields) : row;
  return choices === undefined ? renamed : withListedChoices(renamed, choices);
}

function withFields(row: RowObject, fields: Readonly<Record<string, string>>): RowObject {
  const read = Object.entries(fields).flatMap(([name, field]) => {
    if (Object.hasOwn(row, field) && row[field] != null) return [[name, row[field]] as const];
    // A row may be of none.
    if (CATEGORIES.some((one) => one === name)) return [];
    return failRow(field, 'is missing', `The benchmark reads it as \`${name}\`.`);
  });
  const sources = new Set(Object.values(fields));
  return Object.fromEntries([...Object.entries(row).filter(([name]) => !sources.has(name)), ...read]);
}

function withListedChoices(row: RowObject, order: number | 'as-written'): RowObject {
  const choices = choicesOf(row);
  if (!choices) return failRow('choices', 'are missing', 'Each row of this benchmark is a question with choices.');
  const { texts, field } = choices;
  const right = placeOfRight(row, choices);
  const places = texts.map((_, place) => place);
  const listed = order === 'as-written' ? places : shuffled(places, seedOf(order, row, texts));
  const rest = Object.entries(row).filter(([name]) => name !== field && !isNaming(name));
  return { ...Object.fromEntries(rest), choices: listed.map((place) => texts[place]), answer: listed.indexOf(right) };
}

/** Two rows with the same choices have orders of their own. */
function seedOf(seed: number, row: RowObject, texts: readonly string[]): number {
  const asked = found(row, PROMPTS).map(({ value }) => value);
  return Number.parseInt(
    createHash('sha256')
      .update(JSON.stringify([seed, asked, texts]))
      .digest('hex')
      .slice(0, 12),
    16,
  );
}
