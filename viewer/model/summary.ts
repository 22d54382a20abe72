// The numbers of a run from its rows: accuracy by turn, what feedback changed, how rollouts ended, tokens and times.
// Pure. Numbers by turn are of ended rollouts. Only the last attempt of a sample counts; a failed or undecided turn is never a wrong one.

import { OUTCOMES, type Outcome, type StopReason } from '../../domain/rollout/ending.ts';
import { totalTokens } from '../../domain/rollout/turn.ts';
import { latest, placeOfAnswer, type Row, type RowState, sum, tokensOf } from './row.ts';

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
  /** Ended rollouts with a person's message in their context: in no number by turn. */
  readonly steered: number;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** Ways in which rollouts ended, most frequent first. */
  readonly ends: readonly EndCount[];
  readonly turns: readonly TurnSummary[];
  /** G_1 of complete rollouts; null if there is none. */
  readonly meanReturn: number | null;
  /** Output tokens, null if unknown, and milliseconds of generation. */
  readonly tokens: number | null;
  readonly ms: number;
  /** The judge's reasons, by number of turns, most frequent first. */
  readonly reasons: readonly (readonly [string, number])[];
  /** Rollouts by server. */
  readonly servers: readonly (readonly [string, number])[];
  readonly versions: readonly [number, number] | null;
}

/** A part of the work on a long run takes some tens of milliseconds. */
const PART = 10_000;
const MAX_TURNS = 200;

/** `rows` in order; `total`: rollouts of the run, as far as the data set says. */
export function* summaryInParts(
  rows: readonly Row[],
  total: number,
  numTurns: number,
): Generator<void, RunSummary, void> {
  const counted = latest(rows);
  const found = { ended: 0, steered: 0, ms: 0, longest: 0 };
  const outcomes = Object.fromEntries(OUTCOMES.map((o) => [o, 0])) as Record<Outcome, number>;
  const ends = new Map<string, EndCount>();
  const turns: TurnCount[] = [];
  const [reasons, servers] = [new Map<string, number>(), new Map<string, number>()];
  let versions: readonly [number, number] | null = null;
  let tokens: number | null = 0;
  const returns = { sum: 0, count: 0 };
  for (const [i, row] of counted.entries()) {
    const { state, stop, reason, success, turns: glance, steered } = row;
    if (i % PART === PART - 1) yield;
    found.longest = Math.max(found.longest, success.length);
    tokens = totalTokens([tokens, tokensOf(row)]);
    found.ms += sum(glance.ms);
    const { answers } = glance;
    for (const [at, name] of glance.reasons.entries())
      if (name !== '' && (answers?.includes(at) ?? true)) add(reasons, name);
    if (glance.server !== null) add(servers, glance.server);
    if (glance.versions) versions = wider(versions, glance.versions);
    if (state === 'open') continue;
    found.ended++;
    outcomes[state]++;
    const key = `${state} ${stop} ${reason}`;
    ends.set(key, { state, stop, reason, count: (ends.get(key)?.count ?? 0) + 1 });
    if (steered) {
      found.steered++;
      continue;
    }
    addTurns(turns, success, glance);
    if (row.reward === null) continue;
    returns.sum += row.reward;
    returns.count++;
  }
  yield;
  const { longest, ...counts } = found;
  const shown = Math.max(longest, Math.min(numTurns, MAX_TURNS));
  let rightBy = 0;
  return {
    total: Math.max(total, counted.length),
    begun: counted.length,
    ...counts,
    tokens,
    outcomes,
    ends: [...ends.values()].sort((a, b) => b.count - a.count),
    turns: Array.from({ length: shown }, (_, i) => {
      const { tokens, ms, firstRight, ...turn } = turns[i] ?? noCount();
      rightBy += firstRight;
      return { turn: i + 1, ...turn, rightBy, tokens: spread(tokens), ms: spread(ms) };
    }),
    meanReturn: returns.count === 0 ? null : returns.sum / returns.count,
    reasons: mostFirst(reasons),
    servers: mostFirst(servers),
    versions,
  };
}

/** Of one turn, while rows are counted. */
type TurnCount = { -readonly [K in Exclude<keyof TurnSummary, 'turn' | 'rightBy' | 'tokens' | 'ms'>]: number } & {
  /** Right for the first time. */
  firstRight: number;
  readonly tokens: number[];
  readonly ms: number[];
};

const noCount = (): TurnCount => ({
  ...{ judged: 0, right: 0, stayedRight: 0, repaired: 0, spoiled: 0, stayedWrong: 0, cut: 0, firstRight: 0 },
  ...{ tokens: [], ms: [] },
});

function addTurns(turns: TurnCount[], success: Row['success'], glance: Row['turns']): void {
  const first = success.indexOf(1);
  for (const [i, now] of success.entries()) {
    const counts = (turns[i] ??= noCount());
    if (i === first) counts.firstRight++;
    const before = success[i - 1];
    if (now !== null) {
      counts.judged++;
      counts.right += now;
      if (before === 1) counts[now ? 'stayedRight' : 'spoiled']++;
      else if (before === 0) counts[now ? 'repaired' : 'stayedWrong']++;
    }
  }
  const played = glance.answers?.length ?? glance.tokens.length;
  for (let i = 0; i < played; i++) {
    const at = placeOfAnswer(glance, i);
    if (glance.tokens[at] === undefined) continue;
    const counts = (turns[i] ??= noCount());
    if (glance.tokens[at] !== null) counts.tokens.push(glance.tokens[at]);
    counts.ms.push(glance.ms[at]!);
    if (glance.finish[at] === 'l') counts.cut++;
  }
}

export function spread(values: number[]): Spread | null {
  if (values.length === 0) return null;
  const ordered = Float64Array.from(values).sort();
  const at = (share: number): number => {
    const place = share * (ordered.length - 1);
    const low = ordered[Math.floor(place)]!;
    return low + (place % 1) * (ordered[Math.ceil(place)]! - low);
  };
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}

const add = (counts: Map<string, number>, name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);

const mostFirst = (counts: ReadonlyMap<string, number>): (readonly [string, number])[] =>
  [...counts].sort(([, a], [, b]) => b - a);

function wider(span: readonly [number, number] | null, [low, high]: readonly [number, number]): [number, number] {
  return span === null ? [low, high] : [Math.min(span[0], low), Math.max(span[1], high)];
}
