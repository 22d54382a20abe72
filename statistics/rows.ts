// Every number of a run as one flat list of rows, for CSV and for tables: the same names as in docs/stats.md.

import { bareEstimate, type Estimate } from './estimate.ts';
import type { CallStatistics } from './calls.ts';
import type { Part } from './by-turn.ts';
import type { Distribution } from './mean.ts';
import { type RunStatistics, sharesOf } from './run-statistics.ts';

export function statisticsRows(statistics: RunStatistics): Estimate[] {
  const { byTurn, returns, timing, meanLogprob, provisional } = statistics;
  const n = timing?.seconds.n ?? 0;
  return [
    ...byTurn.flatMap((turn) => [
      turn.accuracy,
      turn.rightBy,
      part(`repairs@turn${turn.turn}`, 'right now / wrong at the turn before, judged at both', turn.repairs),
      part(`spoils@turn${turn.turn}`, 'wrong now / right at the turn before, judged at both', turn.spoils),
      ...shares(`finish@turn${turn.turn}`, 'answers that ended so / answers', turn.finish, 'answers'),
      ...shares(`verdict@turn${turn.turn}`, 'turns judged with this reason / judged turns', turn.reasons, 'turns'),
      ...(turn.reward
        ? [bare(`reward@turn${turn.turn}`, 'mean of r_t over judged turns', turn.reward.mean, turn.reward.n, 'turns')]
        : []),
    ]),
    ...sharesOf(statistics),
    returns,
    bare('returnSpread', 'standard deviation of the returns, n − 1', returns.spread, returns.n, 'rollouts'),
    ...statistics.named,
    ...shares('ending', 'ended rollouts that ended so / ended rollouts', statistics.endings, 'rollouts'),
    ...(meanLogprob ? distribution('meanLogprob', 'mean logprob of an answer’s tokens', meanLogprob) : []),
    ...(timing
      ? [
          ...distribution('outputTokens', 'tokens of an answer', timing.outputTokens),
          ...distribution('contextTokens', 'tokens of a turn’s context', timing.contextTokens),
          bare('cachedTokens', 'tokens of contexts that the endpoint had cached', timing.cachedTokens, n, 'turns'),
          bare('reasoningTokens', 'output tokens of thoughts kept apart', timing.reasoningTokens, n, 'turns'),
          ...distribution('seconds', 'seconds of a turn’s generation', timing.seconds),
          ...distribution('tokensPerSecond', 'output tokens / seconds, of a turn', timing.tokensPerSecond),
          ...distribution('judgeSeconds', 'seconds of judging a turn', timing.judgeSeconds),
          bare('retriedTurns', 'turns generated at the second attempt or later', timing.retried, n, 'turns'),
          bare('busySeconds', 'seconds in which an answer was generated', timing.busySeconds, n, 'turns'),
          bare('throughput', 'output tokens / busy seconds', timing.throughput, n, 'turns'),
          timing.tokensPerRight,
        ]
      : []),
    ...statistics.calls.flatMap(callRows),
    ...(provisional
      ? [
          provisional.endedSoFar,
          provisional.closedPrefix.estimate,
          {
            ...bare('bounds', 'the share of right ones of all rollouts at the end', null, provisional.of, 'rollouts'),
            interval: provisional.bounds,
          },
        ]
      : []),
  ];
}

function callRows({ name, calls, outcomes, refusals, seconds, turns, ofTurns }: CallStatistics): Estimate[] {
  const of = `@${name ?? 'unreadable'}`;
  return [
    bare(`calls${of}`, 'calls of the tool', calls, calls, 'calls'),
    ...shares(`call${of}`, 'calls that ended so / calls', outcomes, 'calls'),
    ...shares(`refused${of}`, 'calls refused for this reason / refused calls', refusals, 'calls'),
    bare(`callTurns${of}`, 'turns with a call of the tool / turns', turns / ofTurns, ofTurns, 'turns'),
    ...distribution(`callSeconds${of}`, 'seconds of a call that ran', seconds, 'calls'),
  ];
}

function bare(name: string, definition: string, value: number | null, n: number, unit: Estimate['unit']): Estimate {
  return bareEstimate({ name, unit, leftOut: 0, definition }, value, n);
}

function part(name: string, definition: string, { count, of }: Part): Estimate {
  return bare(name, definition, of === 0 ? null : count / of, of, 'rollouts');
}

function shares(
  name: string,
  definition: string,
  counts: Readonly<Record<string, number>>,
  unit: Estimate['unit'],
): Estimate[] {
  const all = Object.values(counts).reduce((sum, n) => sum + n, 0);
  return Object.entries(counts).map(([key, n]) => bare(`${name}: ${key}`, definition, n / all, all, unit));
}

function distribution(
  name: string,
  definition: string,
  found: Distribution,
  unit: Estimate['unit'] = 'turns',
): Estimate[] {
  return (['mean', 'p50', 'p90', 'p99', 'max', 'sum'] as const).map((key) =>
    bare(`${name} ${key}`, definition, found[key], found.n, unit),
  );
}
