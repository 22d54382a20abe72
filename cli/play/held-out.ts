// The held-out rows of a training run (--eval): read as its data set is, and made into the run that evaluates version 0 of
// the weights, which later evaluations repeat.

import { resolve } from 'node:path';
import { evaluationName, type EvaluationRecord } from '../../domain/run/evaluation.ts';
import { createRun, type NewRunInput } from '../../run/create-run.ts';
import { evaluationPlace } from '../../run/evaluations.ts';
import type { ResolvedOptions } from '../../run/config.ts';
import type { RunOptions } from '../../run/options.ts';
import { acceptedQueries, type DatasetSurvey, type DataSelection, surveyDataset } from '../../run/survey.ts';
import { putCode } from '../../records/run/code.ts';
import { flagOf, unusable } from '../command.ts';
import { mustBeRunName, runPlace, type RunPlace } from '../find/place.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { type Io, say } from '../io.ts';
import { plural } from '../format.ts';

export interface HeldOut {
  readonly survey: DatasetSurvey;
  readonly record: EvaluationRecord;
}

const OF_VERSIONS = ['batchGroups', 'maxStaleness', 'eval', 'evalEvery', 'evalSamples'] as const;

/** Refuses options that mean nothing without a trainer; numbers in a config file may be shared with a run that has one. */
export function mustTrain({ options, origins }: ResolvedOptions): void {
  const given = options.eval === null ? OF_VERSIONS.find((key) => origins[key] === 'flag') : 'eval';
  if (options.train || given === undefined) return;
  const flag = flagOf(given);
  const problem = `${flag} is for versions of the weights, and without --train there is one.`;
  throw unusable(problem, `Give --train too, or leave ${flag} out: held-out rows can be a run of their own.`);
}

/** `selection`: of the training run. */
export async function surveyHeldOut(
  io: Io,
  { eval: dataset, evalEvery, evalSamples }: RunOptions,
  selection: Omit<DataSelection, 'dataset' | 'limit' | 'shuffleSeed'>,
): Promise<HeldOut | undefined> {
  if (dataset === null) return undefined;
  const all = { dataset: resolve(io.cwd, dataset), limit: null, shuffleSeed: null };
  const survey = await surveyDataset({ ...selection, ...all });
  return { survey, record: { every: evalEvery, samples: evalSamples, queries: survey.offered } };
}

const NAMED = 5;

/** Held-out problems that are also trained on, by their prompt. */
export async function warnIfTrainedOn(io: Io, heldOut: DatasetSurvey, trained: DatasetSurvey): Promise<void> {
  const asked = new Map<string, string>();
  for await (const { prompt, queryId } of acceptedQueries(heldOut)) asked.set(JSON.stringify(prompt), queryId);
  const shared = new Set<string>();
  for await (const { prompt } of acceptedQueries(trained)) {
    const held = asked.get(JSON.stringify(prompt));
    if (held !== undefined) shared.add(held);
  }
  if (shared.size === 0) return;
  const some = [...shared].slice(0, NAMED).map((id) => oneLine(id));
  const problems = plural(shared.size, 'held-out problem is', 'held-out problems are');
  const more = shared.size > NAMED ? ', …' : '';
  say(io, `Warning: ${problems} trained on too, and will look better than new ones: ${some.join(', ')}${more}`);
}

/** `run`: the training run, which is made behind it. */
export async function makeFirstEvaluation(
  { out, run: name }: RunPlace,
  { survey, record }: HeldOut,
  run: NewRunInput,
  codes: readonly Parameters<typeof putCode>[1][],
): Promise<void> {
  // Its longest names are names of runs too.
  mustBeRunName(evaluationName(name, 999_999, 999_999));
  const first = { run: name, version: 0, line: 0 };
  const place = evaluationPlace({ ...first, out });
  const { settings, origins, agent, wording, logprobs, model } = run;
  const { store } = runPlace(place.out, place.run);
  await createRun(store, {
    ...{ run: place.run, survey, settings, samples: record.samples },
    origins: { ...origins, samples: origins['evalSamples'] ?? 'default' },
    ...(agent && { agent }),
    ...(wording && { wording }),
    ...{ logprobs: logprobs ?? null, model: model ?? null },
    evaluates: { ...first, label: null },
  });
  for (const code of codes) await putCode(store.folder, code);
}
