// The full-screen watch: it fits any terminal, and the user's own screen comes back whatever happens.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RunPlace } from '../../cli/find/place.ts';
import { cut, openScreen, openWatchView, type ProcessEvents, screenLines } from '../../cli/view/watch-view.ts';
import { countsOf, progressOf, scriptedIo } from './scripted-io.ts';

const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[0m\u001b[?25h\u001b[?1049l';
const plain = (_: string, text: string) => text;
const tints = (text: string) => text.replace(/\u001b\[\d+m/g, '');

function scriptedEvents() {
  const listeners = new Map<string, () => void>();
  const suspended: string[] = [];
  const events: ProcessEvents = {
    on: (event, listener) => listeners.set(event, listener),
    off: (event) => listeners.delete(event),
    suspend: () => suspended.push('now'),
  };
  return { events, fire: (event: string) => listeners.get(event)?.(), listeners, suspended };
}

describe('a screen', () => {
  test('is entered at the first drawing and left once, also if the process ends without closing it', () => {
    const io = scriptedIo({ tty: true });
    const { events, fire, listeners } = scriptedEvents();
    const screen = openScreen(io.err, events);
    expect(io.text.err).toBe('');
    screen.draw(['a']);
    screen.draw(['b']);
    expect(io.text.err.split(ENTER)).toHaveLength(2);
    fire('exit');
    expect(io.text.err.endsWith(LEAVE)).toBe(true);
    screen.close();
    expect(io.text.err.split(LEAVE)).toHaveLength(2);
    expect(listeners.size).toBe(0);
  });

  test('gives the terminal back while the process is suspended, and draws again after it', () => {
    const io = scriptedIo({ tty: true });
    const { events, fire, suspended } = scriptedEvents();
    const screen = openScreen(io.err, events);
    screen.draw(['what was drawn']);
    fire('SIGTSTP');
    expect([suspended.length, io.text.err.endsWith(LEAVE)]).toEqual([1, true]);
    fire('SIGCONT');
    expect(io.text.err.slice(io.text.err.lastIndexOf(ENTER))).toContain('what was drawn');
    screen.close();
    expect(io.text.err.split(ENTER).length).toBe(io.text.err.split(LEAVE).length);
  });

  test('draws no more lines and no wider ones than the terminal has', () => {
    const line = fc
      .array(fc.constantFrom('a', '😀', '\u001b[31m', '\u001b[39m', 'é'), { maxLength: 30 })
      .map((p) => p.join(''));
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 12 }),
        fc.nat(20),
        fc.integer({ min: 1, max: 8 }),
        (lines, columns, rows) => {
          const io = scriptedIo({ tty: true });
          const screen = openScreen({ ...io.err, columns, rows }, scriptedEvents().events);
          screen.draw(lines);
          const drawn = io.text.err.split('\u001b[H')[1]!.split('\u001b[J')[0]!.split('\r\n').slice(0, -1);
          expect(drawn.length).toBeLessThanOrEqual(Math.max(1, rows - 1));
          for (const text of drawn) {
            const seen = tints(text).replace('\u001b[K', '');
            expect([...seen].length).toBeLessThanOrEqual(Math.max(1, columns));
          }
        },
      ),
    );
  });

  test('ends the tint of a line that it cuts', () => {
    expect(cut('\u001b[31mabcdef\u001b[39m', 3)).toBe('\u001b[31mabc\u001b[0m');
    expect(cut('abc', 3)).toBe('abc');
  });
});

describe('the watch of a run', () => {
  const counts = countsOf({
    judgedAt: [8, 4],
    rightAt: [4, 3],
    rightBy: [4, 7],
    outcomes: { complete: 8, undecided: 0, failed: 2, cancelled: 0 },
    reasons: { '\u001b]0;owned\u0007server-busy': 2 },
  });

  test('shows accuracy by turn as provisional, outcomes and what is in flight, and no text of a server as it is', () => {
    const lines = screenLines(
      {
        run: 'r',
        bar: 'bar',
        progress: progressOf({ done: 10, total: 100, counts }),
        servers: [],
        note: 'Waiting for the \u001b[2J disk',
        now: 1_061_000,
      },
      plain,
    ).join('\n');
    expect(lines).toMatch(/1 +8 +4 +50\.0 % +4 +40\.0 %/);
    expect(lines).toContain('provisional');
    expect(lines).toContain('10 of 100 rollouts: 8 complete, 2 failed');
    expect(lines).toContain('16 rollouts in flight of at most 16');
    expect(lines).toContain('for 1:01');
    expect(lines).not.toContain('\u001b');
  });

  test('leaves nothing on the terminal when it ends, and draws no more after that', async () => {
    const io = scriptedIo({ tty: true, env: { NO_COLOR: '1' } });
    const place = { out: '/nowhere', run: 'r', store: { folder: '/nowhere/r' } } as unknown as RunPlace;
    const view = openWatchView(io, place, scriptedEvents().events);
    view.progress(progressOf({ done: 10, counts }));
    view.note('Temporal does not answer');
    expect(io.text.err).toContain('Temporal does not answer');
    view.end();
    const { length } = io.text.err;
    view.progress(progressOf({ done: 11, counts }));
    view.note('late news');
    await new Promise((resolve) => setImmediate(resolve));
    expect(io.text.err).toHaveLength(length);
    expect(io.text.err.endsWith(LEAVE)).toBe(true);
  });
});
