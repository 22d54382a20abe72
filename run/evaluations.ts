// The runs of held-out evaluations. Whoever makes a training run makes that of version 0; each later one repeats it
// with other weights: the same queries, settings and seed. Idempotent: all files of a run are written once.

import { evaluationName, type EvaluationOf, evaluationsFolder, trainedIn } from '../domain/run/evaluation.ts';
import { StoreError } from '../domain/errors/errors.ts';
import type { RunRecord } from '../records/format/run-record.ts';
import { copyCode } from '../records/run/code.ts';
import { allQueries } from '../records/run/queries.ts';
import { openWeightsLedger } from '../records/run/weights.ts';
import { openFileStore } from '../records/file-store.ts';
import { basename, dirname, join } from '../records/place.ts';
import type { Store } from '../records/store.ts';
import { createRun } from './create-run.ts';
import type { Rows } from './rows.ts';

export const evaluationPlace = ({ run, out, version, line }: EvaluationOf) => ({
  out: evaluationsFolder(join(out, run)),
  run: evaluationName(run, line, version),
});

/** Makes the run that plays the held-out queries with this version. False: it has ended already. */
export async function makeEvaluation(
  openStore: (out: string, run: string) => Store,
  of: EvaluationOf,
): Promise<boolean> {
  const place = evaluationPlace(of);
  const store = openStore(place.out, place.run);
  if (await store.get('result')) return false;
  if (await store.get('run')) return true;
  const first = openStore(place.out, evaluationName(of.run, 0, 0));
  const record = (await first.get('run'))?.record;
  if (!record) {
    throw new StoreError(`${first.folder} is not there, whose held-out queries are to be played.`, {
      reason: 'no-such-run',
      fix: 'Repeat the command that started the run under another --name.',
    });
  }
  const { entries, current } = await openWeightsLedger(join(of.out, of.run)).read();
  const weights = entries.findLast(({ version }) => version === of.version) ?? current;
  await copyCode(first.folder, store.folder);
  const evaluates = { run: of.run, version: of.version, line: of.line, label: weights?.label ?? null };
  await createRun(store, { ...record, run: place.run, evaluates, createdAt: Date.now() }, allQueries(first));
  return true;
}

/** Makes the run that evaluates version 0 of the weights, by the record of the training run; the later ones repeat it. */
export async function createFirstEvaluation(
  training: RunRecord,
  { dataset, wording, queries }: Rows,
  out: string,
  codes: Parameters<typeof createRun>[3],
): Promise<void> {
  const { epochs: _epochs, train: _train, keep: _keep, wording: _wording, evaluation, ...record } = training;
  const { run, origins } = record;
  const first = { run, version: 0, line: 0 };
  const place = evaluationPlace({ ...first, out });
  const evaluating: RunRecord = {
    ...{ ...record, dataset, ...(wording && { wording }), samples: evaluation!.samples },
    run: place.run,
    origins: { ...origins, samples: origins['evalSamples'] ?? 'default' },
    evaluates: { ...first, label: null },
  };
  await createRun(openFileStore(place.out, place.run), evaluating, queries(), codes);
}

export interface Evaluated {
  /** The folder of the training run. */
  readonly folder: string;
  /** Names the weights that are evaluated; null: those that the training run began with. */
  readonly label: string | null;
}

/** Undefined where a run's folder holds no evaluation. */
export async function evaluatedIn(runFolder: string): Promise<Evaluated | undefined> {
  const folder = trainedIn(runFolder);
  if (folder === null) return undefined;
  const record = (await openFileStore(dirname(runFolder), basename(runFolder)).get('run'))?.record;
  return record?.evaluates && { folder, label: record.evaluates.label };
}
