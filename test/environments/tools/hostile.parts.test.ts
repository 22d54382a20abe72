// Repetitions of markers cost a parser no more than any other text of that length.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toolFormatNamed, toolFormatNames } from '../../../environments/tools/formats/format.ts';
import { TOOLS } from '../../support/broken-answers.ts';
import { randomSource } from '../../support/texts.ts';

/** Marks of each format, and pieces of JSON. */
const BITS = JSON.parse(readFileSync(join(import.meta.dirname, 'hostile-bits.json'), 'utf8')) as Record<
  string,
  string[]
>;

/** CPU milliseconds of one parse. */
function cost(name: string, text: string): number {
  const before = process.cpuUsage();
  const reply = toolFormatNamed(name)!.parse(text, TOOLS);
  const { user, system } = process.cpuUsage(before);
  expect(reply.content.length).toBeLessThanOrEqual(text.length);
  return (user + system) / 1_000;
}

const filled = (unit: string, length: number) => unit.repeat(Math.ceil(length / unit.length));

describe.each(toolFormatNames)('%s', (name) => {
  const bits = [...BITS[name]!, ...BITS['json']!];

  test('every pair of markers costs in proportion to its length', () => {
    // Quadratic time in 60,000 characters would be seconds.
    for (const a of bits) {
      for (const b of bits) expect(cost(name, filled(a + b, 60_000)), a + b).toBeLessThan(400);
    }
  }, 300_000);

  test('an opening before a million characters, and a million openings before one end, are read once', () => {
    for (const open of bits) {
      for (const close of [...BITS[name]!, '"}}']) {
        expect(cost(name, open + filled('a ', 300_000) + close), open + close).toBeLessThan(1_000);
        expect(cost(name, filled(open, 150_000) + close), open + close).toBeLessThan(1_000);
      }
    }
  }, 300_000);

  test('random texts of markers never throw, and lose no text outside of calls and thinking', () => {
    const random = randomSource(4);
    for (let i = 0; i < 800; i++) {
      const text = Array.from({ length: random(20) }, () => bits[random(bits.length)]!).join('');
      const { calls, content, thinking } = toolFormatNamed(name)!.parse(text, TOOLS);
      for (const { raw } of calls) expect(text).toContain(raw);
      if (calls.length === 0 && thinking === '' && !/<\||think|THINK/i.test(text)) expect(content).toBe(text.trim());
    }
  });
});
