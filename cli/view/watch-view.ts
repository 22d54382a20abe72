// `watch` on a terminal: the whole screen, redrawn at each look: the counts as of `status`, speed and time left, servers, and
// the cause of a wait. The user's screen is as before when it ends; lines that are too long are cut by the terminal.

import { oneLine } from '../../domain/text/foreign-text.ts';
import type { CollectionProgress } from '../../domain/run/messages.ts';
import type { ServerStatus } from '../../domain/run/server-status.ts';
import { readFleet, STALE_MS } from '../../records/run/fleet-status.ts';
import { openEvaluations } from '../../viewer/evaluations.ts';
import type { Evaluation } from '../../viewer/model/messages.ts';
import { type RunPlace, runArgument } from '../find/place.ts';
import type { Io } from '../io.ts';
import { clock, count, lines, paintFor, plural } from './format.ts';
import { barLine, openRates, type ProgressView } from './progress-view.ts';
import { serverTable } from './servers.ts';
import { evaluationLine } from './statistics-text.ts';
import { summaryLines } from './summary.ts';

const SERVERS_EVERY_MS = 2000;

/** Another screen, without a cursor and without line breaks of its own. */
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l';
const LEAVE = '\u001b[0m\u001b[?7h\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const TO_LINE_END = '\u001b[K';
const TO_SCREEN_END = '\u001b[J';

export function openWatchView(io: Io, place: RunPlace): ProgressView {
  const rates = openRates();
  const paint = paintFor(io.err, io.env);
  let progress: CollectionProgress | undefined;
  let note: string | null = null;
  let servers: readonly ServerStatus[] = [];
  const evaluationsOf = openEvaluations();
  let evaluations: readonly Evaluation[] = [];
  let readAt = -Infinity;
  let over = false;

  /** The most important first: a low terminal shows the beginning. */
  function shown(): string[] {
    const since = progress && progress.startedAt > 0 ? `, for ${clock(io.now() - progress.startedAt)}` : '';
    const leave = paint('dim', 'Ctrl-C detaches; the run continues.');
    const text = lines(
      `${paint('bold', oneLine(place.run))}  ${progress?.state ?? ''}${since}   ${leave}`,
      progress
        ? barLine(progress, rates(progress, io.now()), (io.err.columns || 80) - 1, paint)
        : 'waiting for the first news',
      note !== null && paint('yellow', oneLine(note)),
      progress && [
        '',
        ...summaryLines(progress, runArgument(io, place), paint),
        `${plural(progress.inFlight, 'rollout')} in flight of at most ${count(progress.maxConcurrent)}.`,
      ],
      evaluationLine(evaluations, paint),
      servers.length > 0 && ['', serverTable(servers, paint)],
    );
    return text.join('\n').split('\n');
  }

  const leave = () => io.err.write(LEAVE);
  process.on('exit', leave);
  io.err.write(ENTER);
  const draw = () => {
    if (over) return;
    const rows = Math.max(1, (io.err.rows ?? 24) - 1);
    const fitting = shown().slice(0, rows);
    io.err.write(`${HOME}${fitting.map((line) => `${line}${TO_LINE_END}\r\n`).join('')}${TO_SCREEN_END}`);
  };
  return {
    progress(now) {
      progress = now;
      draw();
      if (io.now() - readAt < SERVERS_EVERY_MS) return;
      readAt = io.now();
      void readFleet(place.store.folder, Date.now() - STALE_MS).then(
        (found) => (servers = found),
        () => undefined,
      );
      void evaluationsOf(place.store.folder).then(
        (found) => (evaluations = found),
        () => undefined,
      );
    },
    note(text) {
      note = text;
      draw();
    },
    end() {
      if (over) return;
      over = true;
      process.off('exit', leave);
      leave();
    },
  };
}
