// The statistics of a run as text: accuracy by turn, the numbers with their intervals, tokens and times, endings.

import { oneLine, short } from '../../domain/text/foreign-text.ts';
import { REFUSALS } from '../../domain/errors/refusals.ts';
import type { TurnStatistics } from '../../statistics/by-turn.ts';
import type { CallStatistics } from '../../statistics/calls.ts';
import { type Estimate, saysNothing } from '../../statistics/estimate.ts';
import type { Provisional } from '../../statistics/in-progress.ts';
import type { Distribution, Interval } from '../../statistics/mean.ts';
import { type RunStatistics, sharesOf } from '../../statistics/run-statistics.ts';
import type { Evaluation } from '../../viewer/model/messages.ts';
import { count, lines, type Paint, percent, plural, table } from './format.ts';

export function statisticsText(statistics: RunStatistics, { explain = false, end = null, paint }: TextOptions): string {
  const { byTurn, timing, calls, provisional, endings, returns, meanLogprob } = statistics;
  const shares = sharesOf(statistics);
  const nothing = `${plural(statistics.queries, 'query', 'queries')} say nothing: intervals marked – cover most of 0 to 100 %.`;
  return lines(
    provisional && [...provisionalLines(provisional, end, paint), ''],
    byTurn.length > 0 && [turnTable(byTurn, paint), ''],
    numberTable(shares, explain, paint),
    shares.some(saysNothing) && paint('yellow', nothing),
    '',
    `return       mean ${real(returns.value)}${realInterval(returns.interval)}, spread ${real(returns.spread)}, from ${real(returns.least)} to ${real(returns.most)} (${plural(returns.n, 'rollout')})`,
    statistics.named
      .slice(0, MOST_NAMED)
      .map(
        (one) =>
          `${short(oneLine(one.name), 40).padEnd(12)} mean ${real(one.value)}${realInterval(one.interval)} (${plural(one.n, 'turn')})`,
      ),
    meanLogprob && `logprob      mean of an answer: ${spread(meanLogprob, real)}`,
    timing && timingLines(timing),
    calls.length > 0 && ['', ...callLines(calls, paint)],
    '',
    Object.entries(endings).map(([name, n]) => `${count(n).padStart(8)}  ${oneLine(name)}`),
    statistics.retried > 0 && `${plural(statistics.retried, 'rollout')} had an earlier attempt; the last one counts.`,
  ).join('\n');
}

/** --json has all of them. */
const MOST_NAMED = 30;

function timingLines(timing: NonNullable<RunStatistics['timing']>): string[] {
  const { outputTokens, contextTokens, cachedTokens, reasoningTokens, tokens } = timing;
  const { seconds, tokensPerSecond, throughput, judgeSeconds, tokensPerRight, retried } = timing;
  const thought = reasoningTokens ? `, ${count(reasoningTokens)} of them thought` : '';
  const cached = cachedTokens === null ? '' : `, ${count(cachedTokens)} of them cached`;
  return lines(
    `tokens       a turn: ${spread(outputTokens, count)}; ${tokens === null ? '–' : count(tokens)} in all${thought}`,
    `context      a turn: ${spread(contextTokens, count)}; ${contextTokens.sum === null ? '–' : count(contextTokens.sum)} in all${cached}`,
    `seconds      a turn: ${spread(seconds, real)}`,
    `tokens/s     a turn: ${spread(tokensPerSecond, real)}; all together ${real(throughput)}`,
    `judging      seconds: ${spread(judgeSeconds, real)}`,
    `tokens per right rollout  ${real(tokensPerRight.value)}${realInterval(tokensPerRight.interval)}`,
    retried > 0 && `${plural(retried, 'turn')} were generated at a later attempt.`,
  );
}

export interface TextOptions {
  /** Adds the definition of each number. */
  readonly explain?: boolean;
  /** How the run ended; null: not yet. */
  readonly end?: string | null;
  readonly paint: Paint;
}

const TURNS = ['>turn', '>judged', '>right', '>accuracy', '>95 %', '>right by then', '>of all', '>95 %'];

function turnTable(turns: readonly TurnStatistics[], paint: Paint): string {
  const part = ({ count: n, of }: TurnStatistics['repairs']) => (of === 0 ? '–' : `${count(n)}/${count(of)}`);
  const several = turns.length > 1;
  const cut = turns.some(({ finish }) => (finish.length ?? 0) > 0);
  const rows = turns.map((t) => [
    String(t.turn),
    count(t.judged),
    count(t.right),
    percent(t.right, t.judged),
    interval(t.accuracy),
    count(Math.round((t.rightBy.value ?? 0) * t.rightBy.n)),
    share(t.rightBy.value),
    interval(t.rightBy),
    ...(several ? [part(t.repairs), part(t.spoils)] : []),
    ...(cut ? [count(t.finish.length ?? 0)] : []),
  ]);
  const columns = [...TURNS, ...(several ? ['>repaired', '>spoiled'] : []), ...(cut ? ['>cut'] : [])];
  return table(columns, rows, paint, (_, column) => (column === 3 ? 'bold' : undefined));
}

const MOST_CALLS = 20;

/** The names are a model's: a run may have any number of them. */
function callLines(calls: readonly CallStatistics[], paint: Paint): string[] {
  const times = ['>seconds p50', '>p90', '>max'];
  const columns = ['call', '>calls', '>ok', '>failed', '>timed out', '>refused', '>of turns', ...times];
  const rows = calls
    .slice(0, MOST_CALLS)
    .map((one) => [
      one.name === null ? 'unreadable' : short(oneLine(one.name), 40),
      count(one.calls),
      ...(['ok', 'failed', 'timed-out', 'refused'] as const).map((outcome) => count(one.outcomes[outcome])),
      percent(one.turns, one.ofTurns),
      ...[one.seconds.p50, one.seconds.p90, one.seconds.max].map(real),
    ]);
  const more = calls.length - rows.length;
  const refused = REFUSALS.flatMap((reason) => {
    const n = calls.reduce((sum, { refusals }) => sum + (refusals[reason] ?? 0), 0);
    return n > 0 ? [`${count(n)} ${reason}`] : [];
  });
  return lines(
    table(columns, rows, paint, (_, column) => (column === 1 ? 'bold' : undefined)),
    more > 0 && `${plural(more, 'further name')} with fewer calls: --json.`,
    refused.length > 0 && `refused      ${refused.join(', ')}`,
  );
}

function numberTable(numbers: readonly Estimate[], explain: boolean, paint: Paint): string {
  const columns = ['number', '>value', '>95 %', 'of', 'left out', ...(explain ? ['definition'] : [])];
  const rows = numbers.map((one) => [
    one.name,
    share(one.value),
    interval(one),
    of(one),
    one.leftOut === 0 ? '' : count(one.leftOut),
    ...(explain ? [one.definition] : []),
  ]);
  return table(columns, rows, paint, (_, column) => (column === 1 ? 'bold' : undefined));
}

function provisionalLines(
  { of, ended, endedSoFar, closedPrefix, bounds }: Provisional,
  end: string | null,
  paint: Paint,
): string[] {
  const { length, estimate } = closedPrefix;
  const isOpen = end === null;
  const state = `${isOpen ? 'In progress' : `The run is ${end}`}: ${count(ended)} of ${plural(of, 'rollout')} ended.`;
  const first =
    length === 0
      ? 'the first rollout in play order has not ended'
      : `${share(estimate.value)} right (95 %: ${interval(estimate)}), of the first ${plural(length, 'rollout')} in play order, which have all ended`;
  const [least, most] = bounds ?? [null, null];
  const soFar = `  ended so far (provisional; biased, because short answers end first): ${share(endedSoFar.value)} of ${count(endedSoFar.n)}`;
  return lines(
    paint('yellow', `${state}${isOpen ? ' Do not stop a run on a number that was looked at often.' : ''}`),
    `  closed prefix: ${first}`,
    isOpen && `  bounds: at the end between ${share(least)} and ${share(most)} of all rollouts are right`,
    paint('dim', soFar),
  );
}

/** Held-out evaluations, by version. */
export function evaluationTable(evaluations: readonly Evaluation[], paint: Paint): string {
  const columns = ['>version', '>right at any turn', '>95 %', '>rollouts', '>return', '>tokens', 'answered by', 'run'];
  const rows = evaluations.map(({ version, state, right, interval: bounds, rollouts, total, ...one }) => [
    String(version),
    state === 'ended' ? share(right) : state === 'open' ? 'being played' : state,
    bounds === null ? '–' : percents(bounds),
    rollouts === total ? count(total) : `${count(rollouts)} of ${count(total)}`,
    real(one.meanReturn),
    real(one.tokens),
    one.answeredBy === null ? '–' : [...new Set(one.answeredBy)].join(' to '),
    one.run,
  ]);
  return table(columns, rows, paint, (_, column) => (column === 1 ? 'bold' : undefined));
}

const SHOWN_EVALUATIONS = 3;

/** The newest held-out evaluations in one line; undefined without any. */
export function evaluationLine(evaluations: readonly Evaluation[], paint: Paint): string | undefined {
  if (evaluations.length === 0) return undefined;
  const newest = evaluations.slice(-SHOWN_EVALUATIONS).map(({ version, state, right, rollouts, total }) => {
    if (state === 'ended') return `version ${version} ${share(right)}`;
    return `version ${version} ${state === 'open' ? 'is being played' : state} (${count(rollouts)} of ${count(total)})`;
  });
  const before = evaluations.length > SHOWN_EVALUATIONS ? '… ' : '';
  return `${paint('dim', 'Held out')}   right at any turn: ${before}${newest.join(', ')}`;
}

const of = ({ n, unit }: Estimate): string => `${count(n)} ${unit}`;

const share = (value: number | null): string => (value === null ? '–' : percent(value, 1));

function interval(estimate: Estimate): string {
  return estimate.interval === null || saysNothing(estimate) ? '–' : percents(estimate.interval);
}

function percents(bounds: Interval): string {
  const [low, high] = bounds.map((bound) => (100 * bound).toFixed(1));
  return `${low} to ${high} %`;
}

function real(value: number | null): string {
  if (value === null) return '–';
  return Math.abs(value) >= 1000 ? count(value) : String(Number(value.toPrecision(4)));
}

const realInterval = (bounds: Interval | null): string =>
  bounds === null ? '' : ` (95 %: ${real(bounds[0])} to ${real(bounds[1])})`;

function spread({ p50, p90, p99, max }: Distribution, text: (value: number) => string): string {
  const one = (value: number | null) => (value === null ? '–' : text(value));
  return `p50 ${one(p50)}, p90 ${one(p90)}, p99 ${one(p99)}, max ${one(max)}`;
}
