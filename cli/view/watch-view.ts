// `watch` on a terminal: the whole screen, redrawn at each look. Accuracy by turn, how rollouts ended, speed and time
// left, servers, and the cause of a wait. The user's screen is as before when it ends.

import { oneLine } from '../../domain/text/foreign-text.ts';
import type { CollectionProgress } from '../../domain/run/messages.ts';
import { counting } from '../../domain/run/progress.ts';
import { readFleet, type ServerReport, STALE_MS } from '../../records/fleet-status.ts';
import type { RunPlace } from '../find/place.ts';
import type { Io } from '../io.ts';
import { clock, count, percent, plural } from './format.ts';
import { type Paint, paintFor } from './paint.ts';
import { barLine, type ProgressView } from './progress-view.ts';
import { openRates } from './rates.ts';
import { openScreen, type ProcessEvents } from './screen.ts';
import { serverTable } from './servers.ts';
import { outcomeLine, reasonLines } from './summary.ts';
import { table } from './table.ts';

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
    screen.draw([...screenLines({ run: place.run, bar, progress: last, servers, note: noted, now: io.now() }, paint)]);
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
  return [
    `${paint('bold', oneLine(run))}  ${progress?.state ?? ''}${since}   ${paint('dim', 'Ctrl-C detaches; the run continues.')}`,
    bar,
    ...(note === null ? [] : [paint('yellow', oneLine(note))]),
    ...(progress ? progressLines(progress, paint) : []),
    ...(servers.length > 0 ? ['', ...serverTable(servers, paint).split('\n')] : []),
  ];
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
  return [
    '',
    ...(rows.length > 0 ? [...head.split('\n'), ...(done < total ? [paint('dim', provisional)] : []), ''] : []),
    outcomeLine({ counts, total }),
    `${plural(inFlight, 'rollout')} in flight of at most ${count(maxConcurrent)}.`,
    ...reasonLines({ counts }, paint),
  ];
}
