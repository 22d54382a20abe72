// The full-screen watch: it fits any terminal, and the user's own screen comes back.

import { describe, expect, test } from 'vitest';
import type { RunPlace } from '../../cli/find/place.ts';
import { openWatchView } from '../../cli/view/watch-view.ts';
import { countsOf, progressOf, scriptedIo } from './scripted-io.ts';

const ENTER = '\u001b[?1049h';
const LEAVE = '\u001b[?1049l';
const place = { out: '/nowhere', run: 'r', store: { folder: '/nowhere/r' } } as unknown as RunPlace;
const counts = countsOf({
  judgedAt: [8, 4],
  rightAt: [4, 3],
  rightBy: [4, 7],
  outcomes: { complete: 8, undecided: 0, failed: 2, cancelled: 0 },
  reasons: { '\u001b]0;owned\u0007server-busy': 2 },
});

describe('the watch of a run', () => {
  test('shows accuracy by turn, outcomes and what is in flight, and no text of a server as it is', () => {
    const io = scriptedIo({ tty: true, env: { NO_COLOR: '1' } });
    const view = openWatchView(io, place);
    view.note('Waiting for the \u001b[2J disk');
    view.progress(progressOf({ done: 10, total: 100, counts }));
    view.end();
    const drawn = io.text.err.split('\u001b[H').at(-1)!;
    expect(drawn).toMatch(/1 +8 +4 +50\.0 % +4 +4\.0 %/);
    expect(drawn).toContain('10 of 100 rollouts: 8 complete, 2 failed');
    expect(drawn).toContain('16 rollouts in flight of at most 16');
    expect(drawn).not.toMatch(/\u001b\[2J|\u001b\]0/);
  });

  test('leaves nothing on the terminal when it ends, and draws no more after that', () => {
    const io = scriptedIo({ tty: true, env: { NO_COLOR: '1' } });
    const view = openWatchView(io, place);
    view.progress(progressOf({ done: 10, counts }));
    view.note('Temporal does not answer');
    expect(io.text.err).toContain('Temporal does not answer');
    view.end();
    const { length } = io.text.err;
    view.progress(progressOf({ done: 11, counts }));
    view.note('late news');
    view.end();
    expect(io.text.err).toHaveLength(length);
    expect(io.text.err.split(ENTER)).toHaveLength(2);
    expect(io.text.err.endsWith(LEAVE)).toBe(true);
  });
});
