// The progress of several runs: on a terminal a line each, which redraw themselves; elsewhere each run's own plain lines, with its
// name before them. With --json the events of each, which name the run.

import { visible } from '../../domain/text/foreign-text.ts';
import type { CollectionProgress } from '../../domain/run/messages.ts';
import { type Io, printJson } from '../io.ts';
import { type Paint, paintFor } from '../format.ts';
import { barLine, factsLine, openRates, type ProgressView } from './progress-view.ts';

export interface CellsView {
  /** `title`: of the line; distinct. */
  of(title: string, run: string): ProgressView;
  end(): void;
}

const PLAIN_EVERY_MS = 10_000;
const JSON_EVERY_MS = 1_000;
const DRAW_EVERY_MS = 200;
/** Lines that are drawn; those of runs that have ended go first. */
const MOST_LINES = 20;
const MOST_TITLE = 40;

interface Line {
  readonly title: string;
  readonly rates: ReturnType<typeof openRates>;
  progress?: CollectionProgress;
  ended: boolean;
}

export function openCellsView(io: Io, json: boolean): CellsView {
  const redraws = !json && io.err.isTTY === true && io.env['TERM'] !== 'dumb';
  const paint: Paint = redraws ? paintFor(io.err, io.env) : (_, text) => text;
  const lines: Line[] = [];
  let [drawn, drawnMs] = [0, -Infinity];
  let noted: string | null = null;
  const clear = () => {
    if (drawn > 0) io.err.write(`\r${drawn > 1 ? `\u001b[${drawn - 1}A` : ''}\u001b[J`);
    drawn = 0;
  };
  const draw = () => {
    if (!redraws || io.now() - drawnMs < DRAW_EVERY_MS) return;
    drawnMs = io.now();
    const open = [...lines.filter(({ ended }) => !ended), ...lines.filter(({ ended }) => ended)];
    const shown = new Set(open.slice(0, MOST_LINES));
    const width = Math.min(MOST_TITLE, Math.max(...lines.map(({ title }) => title.length)));
    const columns = Math.max(20, (io.err.columns || 80) - 1 - width - 2);
    const texts = lines
      .filter((line) => shown.has(line))
      .map(({ title, progress, rates }) => {
        const state = progress ? barLine(progress, rates(progress, io.now()), columns, paint) : '…';
        return `${visible(title).slice(0, width).padEnd(width)}  ${state}`;
      });
    clear();
    io.err.write(texts.join('\n'));
    drawn = texts.length;
  };
  return {
    of(title, run) {
      const line: Line = { title, rates: openRates(), ended: false };
      lines.push(line);
      let [last, lastMs] = ['', -Infinity];
      return {
        progress(progress) {
          line.progress = progress;
          if (redraws) return draw();
          const now = io.now();
          const key = JSON.stringify(json ? progress : [progress.done, progress.state]);
          if (key === last || now - lastMs < (json ? JSON_EVERY_MS : PLAIN_EVERY_MS)) return;
          [last, lastMs] = [key, now];
          const rate = line.rates(progress, now);
          if (json) printJson(io, { event: 'progress', ...progress, run, ...rate });
          else io.err.write(`${visible(title)}: ${factsLine(progress, rate)}\n`);
        },
        note(text) {
          if (text === null || text === noted) return;
          noted = text;
          clear();
          io.err.write(`${paint('yellow', visible(`${title}: ${text}`))}\n`);
        },
        end() {
          line.ended = true;
        },
      };
    },
    end: clear,
  };
}
