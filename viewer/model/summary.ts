// The numbers of a run from its rows: accuracy by turn, what feedback changed, how rollouts ended, tokens and times.
// Pure. Numbers by turn are of ended rollouts. Only the last attempt of a sample counts; a failed or undecided turn is never a wrong one. Facts of turns
// (tokens, times, reasons) are of the rollouts that were looked at, and `glanced` is their number.

import { OUTCOMES, type Outcome, type StopReason } from '../../domain/ending.ts';
import { latest, placeOfAnswer, type Row, type RowState, sum } from './row.ts';

export interface TurnSummary {
  /** 1-based. */
  readonly turn: number;
  readonly judged: number;
  readonly right: number;
  /** Rollouts that were right at this turn or before, of all. */
  readonly rightBy: number;
  /** From the turn before to this one, of rollouts judged at both. */
  readonly stayedRight: number;
  readonly repaired: number;
  readonly spoiled: number;
  readonly stayedWrong: number;
  /** Answers that were cut at their limit. */
  readonly cut: number;
  readonly tokens: Spread | null;
  readonly ms: Spread | null;
}

/** Percentiles, by linear interpolation between order statistics. */
export interface Spread {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

export interface EndCount {
  readonly state: RowState;
  readonly stop: StopReason | null;
  readonly reason: string | null;
  readonly count: number;
}

export interface RunSummary {
  /** Rollouts of the run, begun or not. */
  readonly total: number;
  readonly begun: number;
  readonly ended: number;
  readonly glanced: number;
  /** Ended rollouts with a person's message in their context: in no number by turn. */
  readonly steered: number;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** Ways in which rollouts ended, most frequent first. */
  readonly ends: readonly EndCount[];
  readonly turns: readonly TurnSummary[];
  /** Output tokens, and milliseconds of generation, of the turns that were looked at. */
  readonly tokens: number;
  readonly ms: number;
  /** The judge's reasons, by number of turns, most frequent first. */
  readonly reasons: readonly (readonly [string, number])[];
  /** Rollouts by server. */
  readonly servers: readonly (readonly [string, number])[];
  readonly versions: readonly [number, number] | null;
  readonly lastEndedAt: number | null;
}

/** `rows` in order; `total`: rollouts of the run, as far as the data set says. */
export function summarise(rows: readonly Row[], total: number, numTurns: number): RunSummary {
  const counted = latest(rows);
  const ended = counted.filter(({ state }) => state !== 'open');
  const own = ended.filter(({ steered }) => !steered);
  const glanced = counted.flatMap(({ turns }) => turns ?? []);
  const outcomes = Object.fromEntries(OUTCOMES.map((o) => [o, 0])) as Record<Outcome, number>;
  for (const { state } of ended) outcomes[state as Outcome]++;
  const longest = counted.reduce((most, { success }) => Math.max(most, success.length), 0);
  const all = Math.max(total, counted.length);
  return {
    total: all,
    begun: counted.length,
    ended: ended.length,
    glanced: glanced.length,
    steered: ended.length - own.length,
    outcomes,
    ends: endsOf(ended),
    turns: Array.from({ length: Math.max(longest, Math.min(numTurns, MAX_TURNS)) }, (_, i) => turnSummary(own, i)),
    tokens: sum(glanced.map(({ tokens }) => sum(tokens))),
    ms: sum(glanced.map(({ ms }) => sum(ms))),
    reasons: tally(
      glanced.flatMap(({ reasons, answers }) =>
        reasons.filter((reason, i) => reason !== '' && (answers?.includes(i) ?? true)),
      ),
    ),
    servers: tally(glanced.flatMap(({ server }) => server ?? [])),
    versions: versionsOf(counted),
    lastEndedAt: ended.reduce<number | null>((last, { endedAt }) => Math.max(last ?? 0, endedAt ?? 0), null),
  };
}

const MAX_TURNS = 200;

function turnSummary(rows: readonly Row[], i: number): TurnSummary {
  const counts = { judged: 0, right: 0, rightBy: 0, stayedRight: 0, repaired: 0, spoiled: 0, stayedWrong: 0, cut: 0 };
  const tokens: number[] = [];
  const ms: number[] = [];
  for (const { success, turns } of rows) {
    const first = success.indexOf(1);
    if (first >= 0 && first <= i) counts.rightBy++;
    const [before, now] = [success[i - 1], success[i]];
    if (now === 0 || now === 1) {
      counts.judged++;
      counts.right += now;
      if (before === 1) counts[now ? 'stayedRight' : 'spoiled']++;
      else if (before === 0) counts[now ? 'repaired' : 'stayedWrong']++;
    }
    const at = turns === null ? Infinity : placeOfAnswer(turns, i);
    if (turns === null || turns.tokens[at] === undefined) continue;
    tokens.push(turns.tokens[at]);
    ms.push(turns.ms[at]!);
    if (turns.finish[at] === 'l') counts.cut++;
  }
  return { turn: i + 1, ...counts, tokens: spread(tokens), ms: spread(ms) };
}

export function spread(values: number[]): Spread | null {
  if (values.length === 0) return null;
  const ordered = Float64Array.from(values).sort();
  const at = (share: number): number => {
    const place = share * (ordered.length - 1);
    const low = ordered[Math.floor(place)]!;
    return low + (place % 1) * (ordered[Math.ceil(place)]! - low);
  };
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}

function endsOf(ended: readonly Row[]): EndCount[] {
  const counts = new Map<string, EndCount>();
  for (const { state, stop, reason } of ended) {
    const key = `${state} ${stop} ${reason}`;
    counts.set(key, { state, stop, reason, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()].sort((a, b) => b.count - a.count);
}

export function tally(names: readonly string[]): (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a);
}

function versionsOf(rows: readonly Row[]): readonly [number, number] | null {
  let span: [number, number] | null = null;
  for (const { turns } of rows) {
    if (turns === null || turns.tokens.length === 0) continue;
    const [low, high] = turns.versions;
    span = span === null ? [low, high] : [Math.min(span[0], low), Math.max(span[1], high)];
  }
  return span;
}
