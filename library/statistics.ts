// The numbers of a run, as `everturn stats --json` prints them: whole, or apart for each value of a field of its rows.

import { unusable } from '../domain/errors/unusable.ts';
import { unsteered } from '../domain/rollout/rollout-summary.ts';
import { oneLine } from '../domain/text/foreign-text.ts';
import { count, plural } from '../domain/text/plural.ts';
import type { Breach } from '../records/store.ts';
import type { Estimate } from '../domain/statistics/estimate.ts';
import { byField } from '../domain/statistics/by-field.ts';
import { defaultKs, runStatistics, type RunStatistics } from '../domain/statistics/run-statistics.ts';
import { costBounds, type Prices } from '../domain/statistics/timing.ts';
import { type Evaluation, openEvaluations } from '../viewer/index.ts';
import { contradictedByJudgements, contradictedByPeople, judgedBy, verdictsNamed } from './other-verdicts.ts';
import { fieldOfRows } from './row-field.ts';
import type { RunPlace } from '../run/place.ts';
import { readRunSummaries, type RunSummaries } from './run-summaries.ts';

export interface StatsOptions {
  /** pass@k, pass^k and maj@k for these k. Default: 1, 4, 8, 16 and all samples. */
  readonly k?: readonly number[] | undefined;
  /** Right means: right at any turn up to this one, 1-based. Default: the last. */
  readonly atTurn?: number | undefined;
  /** Also the mean logprob of answers: reads every turn's tokens. Default false. */
  readonly logprobs?: boolean | undefined;
  /** Rollouts that a person had a part in count too. Default false. */
  readonly includeSteered?: boolean | undefined;
  /** Numbers under the verdicts of `judgements/<name>.jsonl` (`judge`), in place of the run's own. Rewards stay the run's. */
  readonly judgements?: string | undefined;
  /** Prices per million tokens, of the run's model or by model: without any there is no `cost`. */
  readonly prices?: Prices | ((model: string | null) => Prices | undefined) | undefined;
}

export interface StatsByFieldOptions extends StatsOptions {
  /** A field of the data set's rows: `level`, `extra_info.split`, `task`. */
  readonly by: string;
  /** The data set, if it is no longer where the run found it. */
  readonly rows?: string | undefined;
}

interface StatisticsHead {
  readonly run: string;
  /** Null: the run is in progress, or was interrupted. */
  readonly end: RunSummaries['end'];
}

export interface Statistics extends StatisticsHead, RunStatistics {
  /** The model as `--model` names it; null if the run's record does not say. */
  readonly model: string | null;
  /** Least and greatest cost of the recorded answers; null where an endpoint counted no tokens, absent without prices. */
  readonly cost?: readonly [least: number, most: number] | null;
  /** Held-out evaluations of a training run, by version. */
  readonly evaluations: readonly Evaluation[];
  /** The judgements under which they are, and how often these contradict the run's judge; absent under its own. */
  readonly judgements?: string;
  /** How often people, and those judgements, contradict the run's judge; empty where nobody else judged. */
  readonly contradicted: readonly Estimate[];
  /** Damaged records: their rollouts are left out. */
  readonly broken: readonly Breach[];
}

export interface FieldStatistics extends StatisticsHead {
  readonly by: string;
  /** In the natural order of the values; null: queries without a value. */
  readonly groups: readonly ({ readonly value: string | null } & RunStatistics)[];
  readonly broken: readonly Breach[];
}

/** Memory: a hundred bytes for each turn of the run. */
export async function statisticsOf(place: RunPlace, given: StatsOptions = {}): Promise<Statistics> {
  const { read, options } = await readFor(place, given);
  const { shape, rollouts, broken, record, end } = read;
  const statistics = runStatistics(rollouts, shape, options);
  const model = record?.settings.model ?? null;
  const prices = typeof given.prices === 'function' ? given.prices(model) : given.prices;
  const cost = prices && costBounds(unsteered(rollouts), prices);
  const evaluations = record?.evaluation ? await openEvaluations()(place.store.folder) : [];
  return {
    ...{ run: place.run, end, model, ...statistics, ...(cost !== undefined && { cost }), evaluations },
    ...(given.judgements !== undefined && { judgements: given.judgements }),
    ...{ contradicted: read.contradicted, broken },
  };
}

/** More parts than this are no groups: each would be a query or two. */
const MOST_VALUES = 200;

/** `all`: the numbers of the whole run. */
export async function statisticsByField(
  cwd: string,
  place: RunPlace,
  { by, rows, ...given }: StatsByFieldOptions,
): Promise<{ readonly found: FieldStatistics; readonly all: RunStatistics }> {
  const { read, options } = await readFor(place, given);
  const { shape, rollouts, broken, record, end } = read;
  const values = await fieldOfRows(cwd, place, record, by, rows);
  const different = new Set(values.values()).size;
  if (different > MOST_VALUES) {
    throw unusable(
      `Field ${JSON.stringify(oneLine(by))} has ${count(different)} values: numbers of so few queries each say nothing.`,
      `Choose a field with at most ${MOST_VALUES} values, such as a level or a subject.`,
    );
  }
  const parts = byField(rollouts, shape, values, options);
  const groups = parts.map(({ value, statistics }) => ({ value, ...statistics }));
  return { found: { run: place.run, end, by, groups, broken }, all: runStatistics(rollouts, shape, options) };
}

async function readFor(place: RunPlace, given: StatsOptions) {
  const { k, atTurn: wanted, logprobs = false, includeSteered = false, judgements } = given;
  const { rollouts, ...more } = await readRunSummaries(place, {
    detail: logprobs ? 'logprobs' : 'turns',
    includeSteered,
  });
  const verdicts = judgements === undefined ? undefined : await verdictsNamed(place.store, judgements);
  const contradicted = [
    await contradictedByPeople(place.store, rollouts),
    verdicts && contradictedByJudgements(judgements!, verdicts, rollouts),
  ].filter((one) => one != null);
  const judged = verdicts ? rollouts.map((rollout) => judgedBy(rollout, verdicts)) : rollouts;
  const read = { ...more, rollouts: judged, contradicted };
  const atTurn = wanted ?? read.shape.numTurns;
  mustBePossible(k, atTurn, read);
  return { read, options: { ks: k ?? defaultKs(read.shape), atTurn } };
}

/** A k or a turn that the run does not have gives no number: said, not shown as a dash. */
function mustBePossible(ks: readonly number[] | undefined, atTurn: number, { shape }: RunSummaries): void {
  const most = shape.samples * shape.epochs;
  const large = ks?.find((k) => k > most);
  if (large !== undefined && shape.queries > 0) {
    throw unusable(
      `--k ${large} is above the ${plural(most, 'sample')} of each query: no number is defined.`,
      `Give numbers up to ${most}, or play the run with --samples ${large}.`,
    );
  }
  if (atTurn <= shape.numTurns) return;
  const message = `--at-turn ${atTurn}: the run plays ${plural(shape.numTurns, 'turn')}.`;
  throw unusable(message, `Give a turn from 1 to ${shape.numTurns}.`, 'no-such-turn');
}
