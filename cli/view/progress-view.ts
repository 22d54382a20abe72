// A run's progress: on a terminal one line that redraws itself, elsewhere a plain line from time to time, and
// only if something changed. With --json the same facts as JSON lines.

import { visible } from '../../domain/text/foreign-text.ts';
import { rewardCells } from '../../domain/run/collection-table.ts';
import type { CollectionProgress } from '../../domain/run/messages.ts';
import { rightSoFar } from '../../domain/statistics/headline.ts';
import { type Io, printJson } from '../io.ts';
import { clock, count, lines, type Paint, paintFor, percent } from '../format.ts';

export interface ProgressView {
  progress(progress: CollectionProgress): void;
  /** A message for the user, printed once however often it is repeated in a row. Null: it no longer applies. */
  note(text: string | null): void;
  end(): void;
}

const PLAIN_EVERY_MS = 5_000;
const JSON_EVERY_MS = 1_000;
const BAR_CHARS = 20;
const CLEAR = '\r\u001b[2K';

export function openProgressView(io: Io, json: boolean): ProgressView {
  const rates = openRates();
  const redraws = !json && io.err.isTTY === true && io.env['TERM'] !== 'dumb';
  const paint: Paint = redraws ? paintFor(io.err, io.env) : (_, text) => text;
  let [drawn, last, lastMs] = [false, '', -Infinity];
  let noted: string | null = null;
  const clear = () => {
    if (drawn) io.err.write(CLEAR);
    drawn = false;
  };
  return {
    progress(progress) {
      const now = io.now();
      const rate = rates(progress, now);
      if (redraws) {
        io.err.write(`${CLEAR}${barLine(progress, rate, (io.err.columns || 80) - 1, paint)}`);
        drawn = true;
        return;
      }
      const key = JSON.stringify(json ? progress : [progress.done, progress.state, progress.inFlight === 0]);
      if (key === last || now - lastMs < (json ? JSON_EVERY_MS : PLAIN_EVERY_MS)) return;
      [last, lastMs] = [key, now];
      if (json) printJson(io, { event: 'progress', ...progress, ...rate });
      else io.err.write(`${factsLine(progress, rate)}\n`);
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

export const factsLine = (progress: CollectionProgress, rates: Rates): string => facts(progress, rates).join(' · ');

/** Most important first. */
function facts(progress: CollectionProgress, { tokensPerSecond, remainingMs }: Rates): string[] {
  const { state, total, done, inFlight, counts } = progress;
  if (state === 'accepting') return ['accepting the data set'];
  const { rightBy: right, of: counted } = rightSoFar(counts, done);
  const { failed, undecided, cancelled } = counts.outcomes;
  const scored = counts.rewardAt?.at(-1);
  return lines(
    `${count(done)}/${count(total)}${state === 'running' ? '' : ` ${state}`}`,
    failed > 0 && `${count(failed)} failed`,
    // The last turn that has rewards is shown.
    scored
      ? `mean reward ${rewardCells(scored)[0]}`
      : `${count(right)} right so far${counted > 0 ? ` (${percent(right, counted, 0)})` : ''}`,
    tokensPerSecond !== null && `${count(tokensPerSecond)} tokens/s`,
    remainingMs !== null && done < total && state === 'running' && `ETA ${clock(remainingMs)}`,
    inFlight > 0 && `${count(inFlight)} in flight`,
    undecided > 0 && `${count(undecided)} undecided`,
    cancelled > 0 && `${count(cancelled)} cancelled`,
  );
}

const WINDOW_MS = 30_000;

export interface Rates {
  /** Null until the end of a rollout was observed, and if nobody knows the tokens. */
  readonly tokensPerSecond: number | null;
  readonly remainingMs: number | null;
}

interface Sample {
  readonly atMs: number;
  readonly tokens: number | null;
  readonly done: number;
}

export function openRates(): (progress: CollectionProgress, nowMs: number) => Rates {
  const samples: Sample[] = [];
  return ({ counts, done, total, startedAt }, nowMs) => {
    if (samples.length === 0) {
      const age = nowMs - startedAt;
      // A user who attaches late has observed no end yet; another machine's clock may be wrong.
      if (age >= 0 && age < WINDOW_MS) samples.push({ atMs: startedAt, tokens: 0, done: 0 });
    }
    samples.push({ atMs: nowMs, tokens: counts.tokens, done });
    while (samples.length > 2 && samples[1]!.atMs < nowMs - WINDOW_MS) samples.shift();
    const first = samples[0]!;
    const tookMs = nowMs - first.atMs;
    const ended = done - first.done;
    if (tookMs <= 0 || ended <= 0) return { tokensPerSecond: null, remainingMs: null };
    return {
      tokensPerSecond:
        counts.tokens === null || first.tokens === null ? null : ((counts.tokens - first.tokens) / tookMs) * 1000,
      remainingMs: ((total - done) * tookMs) / ended,
    };
  };
}
