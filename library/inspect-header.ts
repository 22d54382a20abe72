// The parts of an Inspect log that are of its run: what was played, and the numbers that `stats` shows.

import { titleOfDataset } from '../domain/run/hub-source.ts';
import type { InspectRun } from '../formats/exports/inspect.ts';
import { settingsWithOrigins } from '../records/format/run-record.ts';
import type { RunPlace } from '../run/place.ts';
import type { Estimate } from '../domain/statistics/estimate.ts';
import { headlineOf } from '../domain/statistics/headline.ts';
import { rightAtLast, rightBy } from '../domain/statistics/outcomes.ts';
import { defaultKs, runStatistics } from '../domain/statistics/run-statistics.ts';
import { readRunSummaries } from './run-summaries.ts';

/** Several turns have further scorers, since right by then, or at once, is another question. */
const [LAST, FIRST, ANY, RETURN] = ['judge', 'judge_turn_1', 'judge_any_turn', 'return'] as const;

export async function inspectRunOf(place: RunPlace): Promise<InspectRun> {
  const { record, shape, rollouts, end } = await readRunSummaries(place);
  const ks = defaultKs(shape);
  const statistics = runStatistics(rollouts, shape, { ks });
  const { first, last, any, meanReturn } = headlineOf(statistics);
  const { numTurns } = shape;
  const epochs = shape.samples * shape.epochs;
  // An environment that gives rewards alone says nothing of right and wrong.
  const isReward = last.n === 0 && meanReturn.n > 0;
  const several = numTurns > 1;
  const passes = statistics.passAtK
    .slice(1)
    .map((pass, i) => scoreOf(several ? ANY : LAST, pass, 'accuracy', `pass_at_${ks[i + 1]!}`));
  const scores = isReward
    ? [scoreOf(RETURN, meanReturn, 'mean')]
    : [scoreOf(LAST, last), ...(several ? [scoreOf(FIRST, first), scoreOf(ANY, any)] : []), ...passes];
  const { dataset, settings } = record ?? {};
  const task = dataset?.benchmark ?? (dataset ? titleOfDataset(dataset.path) : place.run);
  const { temperature, topP: top_p, maxNewTokens: max_tokens, seed, extraBody, chatTemplateKwargs } = settings ?? {};
  const chat_template_kwargs = chatTemplateKwargs ?? undefined;
  const extra_body = extraBody || chat_template_kwargs ? { ...extraBody, chat_template_kwargs } : undefined;
  const created = iso(record?.createdAt ?? 0);
  return {
    eval: {
      ...{ eval_id: place.run, run_id: place.run, created, task, task_id: place.run },
      task_args: record ? Object.fromEntries(settingsWithOrigins(record).map(({ name, value }) => [name, value])) : {},
      dataset: { name: task, location: dataset?.path ?? null, samples: dataset?.accepted ?? statistics.queries },
      model: settings?.model ?? 'unknown',
      model_generate_config: { temperature, top_p, max_tokens, seed, extra_body },
      config: { epochs, epochs_reducer: ['mean'] },
      packages: record ? { everturn: record.versions.everturn } : {},
    },
    ended: (usages) => ({
      status: end === null ? 'started' : end === 'cancelled' ? 'cancelled' : 'success',
      results: {
        total_samples: statistics.total || statistics.ended,
        completed_samples: statistics.outcomes.complete + statistics.outcomes.undecided,
        scores,
      },
      stats: {
        started_at: created,
        completed_at: iso(rollouts.reduce((time, { finishedAt }) => Math.max(time, finishedAt ?? 0), 0)),
        model_usage: Object.fromEntries(usages),
      },
    }),
    scoresOf(rollout) {
      if (isReward) return rollout.returns.length > 0 ? [[RETURN, rollout.returns[0]!]] : [];
      const more = [[FIRST, rightBy(rollout, 1)] as const, [ANY, rightBy(rollout, numTurns)] as const];
      const all = [[LAST, rightAtLast(rollout, numTurns)] as const, ...(several ? more : [])];
      return all.flatMap(([name, right]) => (right === null ? [] : [[name, right === 1 ? 'C' : 'I'] as const]));
    },
  };
}

const iso = (ms: number): string => new Date(ms).toISOString();

function scoreOf(name: string, estimate: Estimate, metric = 'accuracy', reducer = 'mean'): object {
  const { value, standardError, n: scored_samples, leftOut: unscored_samples } = estimate;
  const measured = Object.entries({ [metric]: value, stderr: standardError });
  const metrics = measured.flatMap(([one, number]) => (number === null ? [] : [[one, { name: one, value: number }]]));
  return { name, scorer: name, reducer, scored_samples, unscored_samples, metrics: Object.fromEntries(metrics) };
}
