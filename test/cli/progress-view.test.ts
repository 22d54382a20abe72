// Live progress: one line that fits on a terminal, few lines elsewhere, JSON where scripts read.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { barLine, openProgressView } from '../../cli/view/progress-view.ts';
import { countsOf, progressOf, scriptedIo } from './scripted-io.ts';

const plain = (_: string, text: string) => text;

describe('the progress line', () => {
  test('the line fits any terminal', () => {
    fc.assert(
      fc.property(
        fc.record({ columns: fc.nat(200), total: fc.nat(1e6), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
        fc.option(fc.nat(1e6)),
        ({ columns, total, share }, speed) => {
          const done = Math.floor(share * total);
          const counts = countsOf({
            rightBy: [done],
            outcomes: { complete: done, undecided: 3, failed: 9, cancelled: 1 },
          });
          const line = barLine(
            progressOf({ total, done, counts }),
            { tokensPerSecond: speed, remainingMs: speed },
            columns,
            plain,
          );
          expect([...line].length).toBeLessThanOrEqual(columns);
        },
      ),
    );
  });

  test('the bar shows done of total, right so far, speed and time left', () => {
    const counts = countsOf({ rightBy: [4, 5], outcomes: { complete: 10, undecided: 0, failed: 0, cancelled: 0 } });
    const line = barLine(
      progressOf({ done: 10, counts }),
      { tokensPerSecond: 1234.4, remainingMs: 61_000 },
      120,
      plain,
    );
    expect(line).toBe('██░░░░░░░░░░░░░░░░░░ 10/100 · 5 right so far (50 %) · 1,234 tokens/s · ETA 1:01 · 16 in flight');
  });

  test('a terminal’s line is redrawn in place and gone at the end', () => {
    const io = scriptedIo({ tty: true });
    const view = openProgressView(io, false);
    view.progress(progressOf({ done: 1 }));
    view.progress(progressOf({ done: 2 }));
    view.end();
    expect(io.text.err).not.toContain('\n');
    expect(io.text.err.endsWith('\r\u001b[2K')).toBe(true);
    expect(io.text.out).toBe('');
  });

  test('off a terminal a line comes when something changed, and not more than every five seconds', () => {
    const io = scriptedIo();
    const view = openProgressView(io, false);
    const lines = () => io.text.err.split('\n').length - 1;
    view.progress(progressOf({ done: 1 }));
    expect(lines()).toBe(1);
    io.clock.ms += 4_999;
    view.progress(progressOf({ done: 2 }));
    expect(lines()).toBe(1);
    io.clock.ms += 1;
    view.progress(progressOf({ done: 2 }));
    expect(lines()).toBe(2);
    io.clock.ms += 60_000;
    view.progress(progressOf({ done: 2 }));
    expect(lines()).toBe(2);
    expect(io.text.err).not.toMatch(/[\u001b\r]/);
  });

  test('with --json progress is JSON lines on stdout, notes are not', () => {
    const io = scriptedIo();
    const view = openProgressView(io, true);
    view.note('wait');
    view.progress(progressOf({ done: 7 }));
    expect(JSON.parse(io.text.out)).toMatchObject({ event: 'progress', run: 'r', done: 7, total: 100 });
    expect(io.text.err).toBe('wait\n');
  });
});
