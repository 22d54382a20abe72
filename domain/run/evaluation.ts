// Held-out evaluations of a training run: each evaluated version of the weights is a run of its own, in a folder of runs
// beside the training run's, `<out>/<run>-eval`. Its name follows from the run, the version, and the line of weights that
// made it. Pure.

import { COUNT, HASH, INT32, NAME, objectOf, orNull, PLACE, type TypeOf } from '../schema/fields.ts';

/** The evaluations of a training run, in its record. */
export const EVALUATION = objectOf({
  /** Versions from one evaluation to the next. */
  every: PLACE,
  /** The samples of each held-out query. */
  samples: PLACE,
  /** The hash of the held-out rows, before their solutions were read. */
  queries: HASH,
});
export type EvaluationRecord = TypeOf<typeof EVALUATION>;

/** The version that an evaluation is of, in its record. */
export const EVALUATES = objectOf({
  /** The training run. */
  run: NAME,
  /** The one that was published when it began. */
  version: INT32,
  /** The line of weights that made the version. */
  line: COUNT,
  /** The label of the weights in the training run's folder; null: those that it began with. */
  label: orNull(NAME),
});

export interface EvaluationOf {
  /** The training run. */
  readonly run: string;
  readonly out: string;
  readonly version: number;
  /** The line of weights that made the version. */
  readonly line: number;
}

/** The folder of the evaluations of a run, by the folder of the run. */
export const evaluationsFolder = (runFolder: string): string => `${runFolder}-eval`;

/** `first-eval-v0`, `first-eval-line1-v5`: after a rewind the same version has other weights. */
export function evaluationName(run: string, line: number, version: number): string {
  return `${run}-eval${line > 0 ? `-line${line}` : ''}-v${version}`;
}

/** The name of the folder that holds an evaluation, by the name of that; null for any other name. */
export function evaluationsNamed(evaluation: string): string | null {
  return /^(.+-eval)-(?:line\d+-)?v\d+$/.exec(evaluation)?.[1] ?? null;
}

/** The folder of the training run, by the folder of an evaluation; null for the folder of any other run. */
export function trainedIn(folder: string): string | null {
  const parts = /^(.*\/([^/]+))-eval\/([^/]+)$/.exec(folder);
  return parts?.[3]!.startsWith(`${parts[2]!}-eval-`) ? parts[1]! : null;
}
