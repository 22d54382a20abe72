// A run's progress: on a terminal one line that redraws itself, elsewhere a plain line from time to time, and
// only if something changed. With --json the same facts as JSON lines.

import { visible } from '../../domain/text/foreign-text.ts';
import { rewardCells } from '../../domain/run/collection-table.ts';
import { counting, type RewardCount } from '../../domain/run/progress.ts';
import type { CollectionProgress } from '../../domain/run/messages.ts';
import { clock, count, percent } from './format.ts';
import { type Io, printJson } from '../io.ts';
import { type Paint, paintFor } from './paint.ts';
import { openRates, type Rates } from './rates.ts';

export interface ProgressView {
  progress(progress: CollectionProgress): void;
  /** A message for the user, printed once however often it is repeated in a row. Null: it no longer applies. */
  note(text: string | null): void;
  end(): void;
}

const PLAIN_EVERY_MS = 5_000;
const BAR_CHARS = 20;

export function openProgressView(io: Io, json: boolean): ProgressView {
  if (json) return jsonView(io);
  return io.err.isTTY === true && io.env['TERM'] !== 'dumb' ? terminalView(io) : plainView(io);
}

function terminalView(io: Io): ProgressView {
  const rates = openRates();
  const paint = paintFor(io.err, io.env);
  let drawn = false;
  let noted: string | null = null;
  const clear = () => {
    if (drawn) io.err.write('\r\u001b[2K');
    drawn = false;
  };
  return {
    progress(progress) {
      const line = barLine(progress, rates(progress, io.now()), (io.err.columns || 80) - 1, paint);
      io.err.write(`\r\u001b[2K${line}`);
      drawn = true;
    },
    note(text) {
      if (text !== noted && text !== null) {
        clear();
        io.err.write(`${paint('yellow', visible(text))}\n`);
      }
      noted = text;
    },
    end: clear,
  };
}

function plainView(io: Io): ProgressView {
  const rates = openRates();
  let lastMs = -Infinity;
  let last = '';
  let noted: string | null = null;
  return {
    progress(progress) {
      const now = io.now();
      const rate = rates(progress, now);
      const key = JSON.stringify([progress.done, progress.state, progress.inFlight === 0]);
      if (key === last || now - lastMs < PLAIN_EVERY_MS) return;
      last = key;
      lastMs = now;
      io.err.write(`${facts(progress, rate).join(' · ')}\n`);
    },
    note(text) {
      if (text !== noted && text !== null) io.err.write(`${visible(text)}\n`);
      noted = text;
    },
    end: () => {},
  };
}

function jsonView(io: Io): ProgressView {
  const rates = openRates();
  const notes = plainView(io);
  let lastMs = -Infinity;
  let last = '';
  return {
    progress(progress) {
      const now = io.now();
      const rate = rates(progress, now);
      const key = JSON.stringify(progress);
      if (key === last || now - lastMs < 1000) return;
      last = key;
      lastMs = now;
      printJson(io, { event: 'progress', ...progress, ...rate });
    },
    note: notes.note,
    end: () => {},
  };
}

/** The parts that fit into `columns`; the bar is dropped first, then the least important part. */
export function barLine(progress: CollectionProgress, rates: Rates, columns: number, paint: Paint): string {
  const parts = facts(progress, rates);
  const share = progress.total === 0 ? 0 : progress.done / progress.total;
  const filled = Math.floor(share * BAR_CHARS);
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_CHARS - filled);
  const text = () => parts.join(' · ');
  const withBar = columns >= BAR_CHARS + 1 + text().length;
  while (!withBar && parts.length > 1 && text().length > columns) parts.pop();
  return withBar ? `${paint('cyan', bar)} ${text()}` : text().slice(0, Math.max(0, columns));
}

/** Most important first. */
function facts(progress: CollectionProgress, { tokensPerSecond, remainingMs }: Rates): string[] {
  const { state, total, done, inFlight, counts } = progress;
  if (state === 'accepting') return ['accepting the data set'];
  const right = counts.rightBy.at(-1) ?? 0;
  const counted = counting(done, counts);
  const { failed, undecided, cancelled } = counts.outcomes;
  const scored = counts.rewardAt?.at(-1);
  return [
    `${count(done)}/${count(total)}${state === 'running' ? '' : ` ${state}`}`,
    ...(failed > 0 ? [`${count(failed)} failed`] : []),
    ...(scored
      ? [rewardPart(scored)]
      : [`${count(right)} right so far${counted > 0 ? ` (${percent(right, counted, 0)})` : ''}`]),
    ...(tokensPerSecond === null ? [] : [`${count(tokensPerSecond)} tokens/s`]),
    ...(remainingMs === null || done === total || state !== 'running' ? [] : [`ETA ${clock(remainingMs)}`]),
    ...(inFlight > 0 ? [`${count(inFlight)} in flight`] : []),
    ...(undecided > 0 ? [`${count(undecided)} undecided`] : []),
    ...(cancelled > 0 ? [`${count(cancelled)} cancelled`] : []),
  ];
}

/** Of the last turn that has rewards. */
const rewardPart = (at: RewardCount): string => `mean reward ${rewardCells(at)[0]}`;
