// The statistics of a run as text: accuracy by turn, the numbers with their intervals, tokens and times, endings.

import { oneLine, short } from '../../domain/text/foreign-text.ts';
import { CALL_REFUSALS } from '../../domain/errors/refusals.ts';
import type { TurnStatistics } from '../../domain/statistics/by-turn.ts';
import type { CallStatistics } from '../../domain/statistics/calls.ts';
import { type Estimate, isTooWide } from '../../domain/statistics/estimate.ts';
import type { Provisional } from '../../domain/statistics/in-progress.ts';
import type { Distribution, Interval } from '../../domain/statistics/mean.ts';
import { type RunStatistics, sharesOf } from '../../domain/statistics/run-statistics.ts';
import type { Evaluation } from '../../viewer/index.ts';
import {
  type Column,
  count,
  lines,
  type Paint,
  percent,
  percents,
  plural,
  fourDigits,
  share,
  table,
} from '../format.ts';

export function statisticsText(statistics: RunStatistics, { explain = false, end = null, paint }: TextOptions): string {
  const { byTurn, timing, calls, provisional, endings, returns, meanLogprob } = statistics;
  const shares = sharesOf(statistics);
  const nothing = `${plural(statistics.queries, 'query', 'queries')} say nothing: intervals marked – cover most of 0 to 100 %.`;
  return lines(
    provisional && [...provisionalLines(provisional, end, paint), ''],
    byTurn.length > 0 && [turnTable(byTurn, paint), ''],
    numberTable(shares, explain, paint),
    shares.some(isTooWide) && paint('yellow', nothing),
    '',
    `return       mean ${fourDigits(returns.value)}${realInterval(returns.interval)}, spread ${fourDigits(returns.spread)}, from ${fourDigits(returns.least)} to ${fourDigits(returns.most)} (${plural(returns.n, 'rollout')})`,
    statistics.named
      .slice(0, MOST_NAMED)
      .map(
        (one) =>
          `${short(oneLine(one.name), 40).padEnd(12)} mean ${fourDigits(one.value)}${realInterval(one.interval)} (${plural(one.n, 'turn')})`,
      ),
    meanLogprob && `logprob      mean of an answer: ${spread(meanLogprob, fourDigits)}`,
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
    `seconds      a turn: ${spread(seconds, fourDigits)}`,
    `tokens/s     a turn: ${spread(tokensPerSecond, fourDigits)}; all together ${fourDigits(throughput)}`,
    `judging      seconds: ${spread(judgeSeconds, fourDigits)}`,
    `tokens per right rollout  ${fourDigits(tokensPerRight.value)}${realInterval(tokensPerRight.interval)}`,
    retried > 0 && `${plural(retried, 'turn was', 'turns were')} generated at a later attempt.`,
  );
}

export interface TextOptions {
  /** Adds the definition of each number. */
  readonly explain?: boolean;
  /** How the run ended; null: not yet. */
  readonly end?: string | null;
  readonly paint: Paint;
}

function turnTable(turns: readonly TurnStatistics[], paint: Paint): string {
  const part = ({ count: n, of }: TurnStatistics['repairs']) => (of === 0 ? '–' : `${count(n)}/${count(of)}`);
  const several = turns.length > 1;
  const columns: (Column<TurnStatistics> | false)[] = [
    ['>turn', ({ turn }) => String(turn)],
    ['>judged', ({ judged }) => count(judged)],
    ['>right', ({ right }) => count(right)],
    ['>accuracy', ({ right, judged }) => percent(right, judged), 'bold'],
    ['>95 %', ({ accuracy }) => interval(accuracy)],
    ['>right by then', ({ rightBy }) => count((rightBy.value ?? 0) * rightBy.n)],
    ['>of ended', ({ rightBy }) => share(rightBy.value)],
    ['>95 %', ({ rightBy }) => interval(rightBy)],
    several && ['>repaired', ({ repairs }) => part(repairs)],
    several && ['>spoiled', ({ spoils }) => part(spoils)],
    turns.some(({ finish }) => (finish.length ?? 0) > 0) && ['>cut', ({ finish }) => count(finish.length ?? 0)],
  ];
  return table(turns, columns, paint);
}

const MOST_CALLS = 20;

/** The names are a model's: a run may have any number of them. */
function callLines(calls: readonly CallStatistics[], paint: Paint): string[] {
  const rows = calls.slice(0, MOST_CALLS);
  const columns: Column<CallStatistics>[] = [
    ['call', ({ name }) => (name === null ? 'unreadable' : short(oneLine(name), 40))],
    ['>calls', (one) => count(one.calls), 'bold'],
    ...(['ok', 'failed', 'timed-out', 'refused'] as const).map((outcome): Column<CallStatistics> => [
      `>${outcome.replace('-', ' ')}`,
      (one) => count(one.outcomes[outcome]),
    ]),
    ['>of turns', ({ turns, ofTurns }) => percent(turns, ofTurns)],
    ['>seconds p50', ({ seconds }) => fourDigits(seconds.p50)],
    ['>p90', ({ seconds }) => fourDigits(seconds.p90)],
    ['>max', ({ seconds }) => fourDigits(seconds.max)],
  ];
  const more = calls.length - rows.length;
  const refused = CALL_REFUSALS.flatMap((reason) => {
    const n = calls.reduce((sum, { refusals }) => sum + (refusals[reason] ?? 0), 0);
    return n > 0 ? [`${count(n)} ${reason}`] : [];
  });
  return lines(
    table(rows, columns, paint),
    more > 0 && `${plural(more, 'further name')} with fewer calls: --json.`,
    refused.length > 0 && `refused      ${refused.join(', ')}`,
  );
}

function numberTable(numbers: readonly Estimate[], explain: boolean, paint: Paint): string {
  const columns: (Column<Estimate> | false)[] = [
    ['number', ({ name }) => name],
    ['>value', ({ value }) => share(value), 'bold'],
    ['>95 %', interval],
    ['of', ({ n, unit }) => `${count(n)} ${unit}`],
    ['left out', ({ leftOut }) => (leftOut === 0 ? '' : count(leftOut))],
    explain && ['definition', ({ definition }) => definition],
  ];
  return table(numbers, columns, paint);
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
  const columns: Column<Evaluation>[] = [
    ['>version', ({ version }) => String(version)],
    ['>right at any turn', (one) => (one.state === 'ended' ? share(one.right) : stateText(one)), 'bold'],
    ['>95 %', (one) => inPercent(one.interval)],
    ['>rollouts', ({ rollouts, total }) => count(rollouts) + (rollouts === total ? '' : ` of ${count(total)}`)],
    ['>return', ({ meanReturn }) => fourDigits(meanReturn)],
    ['>tokens', ({ tokens }) => fourDigits(tokens)],
    ['answered by', ({ answeredBy }) => (answeredBy === null ? '–' : [...new Set(answeredBy)].join(' to '))],
    ['run', ({ run }) => run],
  ];
  return table(evaluations, columns, paint);
}

const stateText = ({ state }: Evaluation): string => (state === 'open' ? 'being played' : state);

const SHOWN_EVALUATIONS = 3;

/** The newest held-out evaluations in one line; undefined without any. */
export function evaluationLine(evaluations: readonly Evaluation[], paint: Paint): string | undefined {
  if (evaluations.length === 0) return undefined;
  const newest = evaluations.slice(-SHOWN_EVALUATIONS).map((one) => {
    if (one.state === 'ended') return `version ${one.version} ${share(one.right)}`;
    return `version ${one.version} ${one.state === 'open' ? 'is ' : ''}${stateText(one)} (${count(one.rollouts)} of ${count(one.total)})`;
  });
  const before = evaluations.length > SHOWN_EVALUATIONS ? '… ' : '';
  return `${paint('dim', 'Held out')}   right at any turn: ${before}${newest.join(', ')}`;
}

const interval = (estimate: Estimate): string => inPercent(isTooWide(estimate) ? null : estimate.interval);

const inPercent = (bounds: Interval | null): string => (bounds === null ? '–' : `${percents(bounds)} %`);

const realInterval = (bounds: Interval | null): string =>
  bounds === null ? '' : ` (95 %: ${fourDigits(bounds[0])} to ${fourDigits(bounds[1])})`;

function spread({ p50, p90, p99, max }: Distribution, text: (value: number) => string): string {
  const one = (value: number | null) => (value === null ? '–' : text(value));
  return `p50 ${one(p50)}, p90 ${one(p90)}, p99 ${one(p99)}, max ${one(max)}`;
}
