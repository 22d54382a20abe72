// The dates that a chat template prints are those of Python: strftime.json has what `datetime(…).strftime(…)` of Python 3.11 gave
// in the C locale on Linux.

import { readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { chatTemplateOf } from '../../inference/tokenizer/chat-template.ts';
import { strftime } from '../../inference/tokenizer/strftime.ts';

interface Recorded {
  /** Year, month from 1, day, hour, minute, second, microsecond. */
  readonly date: readonly [number, number, number, number, number, number, number];
  readonly said: Readonly<Record<string, string>>;
}
const recorded = JSON.parse(readFileSync(new URL('./strftime.json', import.meta.url), 'utf8')) as Recorded[];

describe('a date', () => {
  test.each(recorded)('is written as Python writes it, in each format: $date', ({ date, said }) => {
    const [year, month, day, hour, minute, second, micro] = date;
    const own = new Date(year, month - 1, day, hour, minute, second, micro / 1000);
    const written = Object.fromEntries(Object.keys(said).map((format) => [format, strftime(own, format)]));
    expect(written).toEqual(said);
  });

  test('is that of now in a chat template', () => {
    vi.useFakeTimers({ now: new Date(2026, 10, 28, 0, 25, 7), toFake: ['Date'] });
    try {
      const file = "{{- strftime_now('%A, %-d %B %Y, %I:%M:%S %p') + '\\n' }}{{ messages[0]['content'] }}";
      const text = chatTemplateOf({}, file).render([{ role: 'user', content: 'Hi' }]);
      expect(text).toBe('Saturday, 28 November 2026, 12:25:07 AM\nHi');
    } finally {
      vi.useRealTimers();
    }
  });
});
