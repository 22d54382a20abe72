// `watch` on a terminal: the whole screen, redrawn at each look. Accuracy by turn, how rollouts ended, speed and time
// left, servers, and the cause of a wait. The user's screen is as before when it ends.

import { oneLine } from '../../domain/text/foreign-text.ts';
import type { CollectionProgress } from '../../domain/run/messages.ts';
import { counting } from '../../domain/run/progress.ts';
import { readFleet, type ServerReport, STALE_MS } from '../../records/run/fleet-status.ts';
import type { RunPlace } from '../find/place.ts';
import type { Io, Stream } from '../io.ts';
import { clock, count, lines, type Paint, paintFor, percent, plural, table } from './format.ts';
import { barLine, openRates, type ProgressView } from './progress-view.ts';
import { serverTable } from './servers.ts';
import { outcomeLine, reasonLines } from './summary.ts';

const SERVERS_EVERY_MS = 2000;

export function openWatchView(io: Io, place: RunPlace, events?: ProcessEvents): ProgressView {
  const screen = openScreen(io.err, events);
  const rates = openRates();
  const paint = paintFor(io.err, io.env);
  let last: CollectionProgress | undefined;
  let noted: string | null = null;
  let servers: readonly ServerReport[] = [];
  let readAt = -Infinity;
  let open = true;
  const draw = () => {
    if (!open) return;
    const rate = last && rates(last, io.now());
    const columns = (io.err.columns || 80) - 1;
    const bar = last && rate ? barLine(last, rate, columns, paint) : 'waiting for the first news';
    screen.draw(screenLines({ run: place.run, bar, progress: last, servers, note: noted, now: io.now() }, paint));
  };
  return {
    progress(progress) {
      last = progress;
      draw();
      if (io.now() - readAt < SERVERS_EVERY_MS) return;
      readAt = io.now();
      void readFleet(place.store.folder, Date.now() - STALE_MS).then(
        (found) => (servers = found),
        () => undefined,
      );
    },
    note(text) {
      noted = text;
      draw();
    },
    end() {
      open = false;
      screen.close();
    },
  };
}

interface Shown {
  readonly run: string;
  readonly bar: string;
  readonly progress: CollectionProgress | undefined;
  readonly servers: readonly ServerReport[];
  readonly note: string | null;
  readonly now: number;
}

/** The most important first: a low terminal shows the beginning. */
export function screenLines({ run, bar, progress, servers, note, now }: Shown, paint: Paint): string[] {
  const since = progress && progress.startedAt > 0 ? `, for ${clock(now - progress.startedAt)}` : '';
  return lines(
    `${paint('bold', oneLine(run))}  ${progress?.state ?? ''}${since}   ${paint('dim', 'Ctrl-C detaches; the run continues.')}`,
    bar,
    note !== null && paint('yellow', oneLine(note)),
    progress && progressLines(progress, paint),
    servers.length > 0 && ['', ...serverTable(servers, paint).split('\n')],
  );
}

const COLUMNS = ['>turn', '>judged', '>right', '>accuracy', '>right so far', '>of ended'];

function progressLines(progress: CollectionProgress, paint: Paint): string[] {
  const { counts, total, done, inFlight, maxConcurrent } = progress;
  const rows = counts.judgedAt.map((judged, i) => {
    const [now, by] = [counts.rightAt[i] ?? 0, counts.rightBy[i] ?? 0];
    return [
      String(i + 1),
      count(judged),
      count(now),
      percent(now, judged),
      count(by),
      percent(by, counting(done, counts)),
    ];
  });
  const head = table(COLUMNS, rows, paint, (_, column) => (column === 3 ? 'bold' : undefined));
  const provisional = `Of ended rollouts: provisional and without intervals, because short answers end first. \`everturn stats ${oneLine(progress.run)}\` bounds it.`;
  return lines(
    '',
    rows.length > 0 && lines(head.split('\n'), done < total && paint('dim', provisional), ''),
    outcomeLine({ counts, total }),
    `${plural(inFlight, 'rollout')} in flight of at most ${count(maxConcurrent)}.`,
    reasonLines({ counts }, paint),
  );
}

export interface Screen {
  /** At most the lines that fit; longer ones are cut. */
  draw(lines: readonly string[]): void;
  close(): void;
}

/** The events of a process that a screen must hear of; a test passes its own. */
export interface ProcessEvents {
  on(event: 'exit' | 'SIGTSTP' | 'SIGCONT', listener: () => void): unknown;
  off(event: 'exit' | 'SIGTSTP' | 'SIGCONT', listener: () => void): unknown;
  /** Suspends the process as the terminal would. */
  suspend(): void;
}

const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[0m\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const TO_LINE_END = '\u001b[K';
const TO_SCREEN_END = '\u001b[J';

const PROCESS: ProcessEvents = {
  on: (event, listener) => process.on(event, listener),
  off: (event, listener) => process.off(event, listener),
  suspend: () => void process.kill(process.pid, 'SIGSTOP'),
};

export function openScreen(stream: Stream, events: ProcessEvents = PROCESS): Screen {
  let open = false;
  let drawn: readonly string[] = [];
  const enter = () => {
    if (!open) stream.write(ENTER);
    open = true;
  };
  const leave = () => {
    if (open) stream.write(LEAVE);
    open = false;
  };
  const draw = (lines: readonly string[]) => {
    drawn = lines;
    const rows = Math.max(1, (stream.rows ?? 24) - 1);
    const columns = Math.max(1, stream.columns ?? 80);
    const shown = lines.slice(0, rows).map((line) => `${cut(line, columns)}${TO_LINE_END}`);
    enter();
    stream.write(`${HOME}${shown.join('\r\n')}\r\n${TO_SCREEN_END}`);
  };
  const suspend = () => {
    leave();
    events.suspend();
  };
  const resume = () => draw(drawn);
  events.on('exit', leave);
  events.on('SIGTSTP', suspend);
  events.on('SIGCONT', resume);
  return {
    draw,
    close() {
      events.off('exit', leave);
      events.off('SIGTSTP', suspend);
      events.off('SIGCONT', resume);
      leave();
    },
  };
}

/** Our tints take no room; a cut one is ended. */
const TINT = /\u001b\[\d+m/y;

/** A line cut to the columns of a terminal, one column a character. Not covered: characters of two columns. */
export function cut(line: string, columns: number): string {
  let [text, width, tinted] = ['', 0, false];
  for (let at = 0; at < line.length;) {
    TINT.lastIndex = at;
    const tint = TINT.exec(line)?.[0];
    if (tint !== undefined) {
      text += tint;
      tinted = true;
      at += tint.length;
      continue;
    }
    const char = String.fromCodePoint(line.codePointAt(at)!);
    if (width === columns) return text + (tinted ? '\u001b[0m' : '');
    text += char;
    width++;
    at += char.length;
  }
  return text;
}
