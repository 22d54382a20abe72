// The reader of JSON inside longer texts, against JSON.parse.

import { describe, expect, test } from 'vitest';
import { readJsonAt, wholeJson } from '../../../environments/tools/formats/json.ts';
import { rowsOf } from '../../support/rows.ts';
import { someText, randomSource, type RandomSource } from '../../support/texts.ts';

const fault = (text: string) => {
  const read = readJsonAt(text, 0);
  return read.ok ? null : read.error;
};

function someValue(random: RandomSource, depth = 4): unknown {
  const kind = random(depth > 0 ? 8 : 5);
  if (kind === 0) return [null, true, false][random(3)];
  if (kind === 1) return random(2 ** 31) - 2 ** 30;
  if (kind === 2) return (random(2 ** 31) - 2 ** 30) * 10 ** (random(26) - 20);
  if (kind < 5) return someText(random).toWellFormed();
  if (kind === 5) return Array.from({ length: random(5) }, () => someValue(random, depth - 1));
  return Object.fromEntries(
    Array.from({ length: random(5) }, (_, i) => [
      `${someText(random)}${i}`.toWellFormed(),
      someValue(random, depth - 1),
    ]),
  );
}

describe('a JSON value inside a longer text', () => {
  test('is what JSON.parse makes of it, and ends where it ends', () => {
    const random = randomSource(1);
    for (let i = 0; i < 2_000; i++) {
      const value = someValue(random);
      const json = JSON.stringify(value, null, random(3));
      const behind = ['', ' ', '\n</tool_call>', ';', '"', 'x'][random(6)]!;
      // A number goes on with what looks like a number only.
      const read = readJsonAt(`ab ${json}${behind}`, 2);
      expect(read).toEqual({ ok: true, value: JSON.parse(json) as unknown, end: 3 + json.length });
    }
  });

  test('is refused, with the place, wherever JSON.parse refuses it', () => {
    const random = randomSource(2);
    let refused = 0;
    for (let i = 0; i < 5_000; i++) {
      const json = JSON.stringify(someValue(random));
      const at = random(json.length + 1);
      const junk = ['', '"', '\\', '{', '}', ',', ':', '\n', '\u0001', '1', '-', 'e', '.', ']'][random(14)]!;
      const text = json.slice(0, at) + junk + json.slice(at + random(3));
      const expected = parsed(text);
      const whole = wholeJson(text);
      if (expected === undefined) expect(whole, text).toBeNull();
      // We also refuse doubled keys and halves of pairs; nothing else.
      else if (whole === null) expect(fault(text) ?? '', text).toMatch(/twice|surrogate|2\^53|too large/);
      else expect(whole.value).toEqual(expected.value);
      if (whole === null) refused++;
      const read = readJsonAt(text, 0);
      if (!read.ok) expect(read.at).toBeLessThanOrEqual(text.length);
    }
    expect(refused).toBeGreaterThan(1_000);
  });

  test.each(rowsOf<{ text: string; fault: string }>('./json-faults.jsonl', import.meta.url))(
    '$text is refused with its fault',
    (row) => expect(fault(row.text)).toBe(row.fault),
  );
});

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
