// An evaluation for a program: benchmarks × models × what is varied, each as a run that goes on by itself.

import { resolve } from 'node:path';
import { unusable } from '../../domain/errors/unusable.ts';
import { optionNamed, resolveOptions } from '../../run/config.ts';
import { DEFAULT_OUT } from '../../run/place.ts';
import type { WaitOptions } from '../await-run.ts';
import type { CostOf } from '../compare-runs.ts';
import { eventInOptionNames } from '../option-names.ts';
import { mustTake } from '../options.ts';
import { openRun } from '../open-run.ts';
import type { Run } from '../run-handle.ts';
import type { StartOptions } from '../start.ts';
import { told } from '../told.ts';
import type { RefusedCell } from './cells.ts';
import { variantsOf } from './matrix.ts';
import { startEvaluation } from './start-evaluation.ts';
import { evaluationTable, type EvaluationTable } from './table.ts';

type OfOneRun = 'dataset' | 'model' | 'environment' | 'tools' | 'samples' | 'train';

/** Beside these, the options of `start`, of each run alike. */
export interface EvaluateOptions extends Omit<StartOptions, OfOneRun> {
  /** Names of benchmarks, pages, files of problems, or places on the hub. */
  readonly benchmarks: readonly string[];
  /** As `start` takes them. Default: the model of `config`, or the shipped one. */
  readonly models?: readonly string[] | undefined;
  /** Values of options, by name: a run for each, as in `{ temperature: [0, 0.7] }`. */
  readonly vary?: Readonly<Record<string, readonly unknown[]>> | undefined;
  /** Rollouts of each problem. Default: what the benchmark's page says, or 1. */
  readonly repeats?: number | undefined;
  readonly environment?: string | readonly string[] | undefined;
}

export interface EvaluationCell {
  readonly benchmark: string;
  /** Its model, and what is varied. */
  readonly label: string;
  readonly run: Run;
}

export interface Evaluation {
  readonly name: string;
  /** In the order of benchmarks, then of models. */
  readonly cells: readonly EvaluationCell[];
  /** Cells that cannot be played, each with its error: nothing of them was begun. */
  readonly refused: readonly RefusedCell[];
  /** The numbers of what is stored now. */
  table(): Promise<EvaluationTable>;
  /** Waits for the end of every cell: the table then. */
  result(options?: WaitOptions): Promise<EvaluationTable>;
}

const FREE: CostOf = () => undefined;

/**
 * Starts an evaluation, or finds the one that the same call started: one turn by default, and the benchmark's own words and
 * sampling. A cell that cannot be played is refused by itself (`refused`); rejects as `start` does where none can. Failed rollouts
 * of cells that have ended are played again.
 */
export function evaluate(options: EvaluateOptions): Promise<Evaluation> {
  return told(evaluateGiven(options));
}

async function evaluateGiven(options: EvaluateOptions): Promise<Evaluation> {
  mustTake('evaluate', options);
  const { benchmarks, models = [], vary = {}, repeats, name, config, strict = false, ...more } = options;
  const {
    onEvent = () => {},
    out = DEFAULT_OUT,
    home,
    env: given = process.env,
    cwd = process.cwd(),
    signal,
    ...plain
  } = more;
  if (benchmarks.length === 0) throw unusable('There is no benchmark.', 'Name one in `benchmarks`, such as gsm8k.');
  const env = home === undefined ? given : { ...given, EVERTURN_HOME: home };
  const varied = Object.entries(vary).map(([key, values]) => [optionNamed(key, 'vary'), values] as const);
  const configFile = config === undefined ? undefined : resolve(cwd, config);
  const input = { ...plain, ...(repeats !== undefined && { samples: repeats }) };
  const plan = {
    ...{ benchmarks, name, out, strict, cwd },
    variants: variantsOf(models, varied),
    resolve: (own: object, below: object) => resolveOptions({ ...below, configFile, input: { ...input, ...own } }),
  };
  const caller = {
    cwd,
    env,
    now: Date.now,
    signal,
    onEvent: (event: Parameters<typeof onEvent>[0]) => onEvent(eventInOptionNames(event)),
  };
  const { cells, refused, ...started } = await startEvaluation(plan, caller);
  const opened: EvaluationCell[] = [];
  for (const { benchmark, label, place } of cells)
    opened.push({ benchmark, label, run: await openRun(place.run, { out: place.out, env, cwd, signal }) });
  const table = () => evaluationTable(cells, FREE);
  return {
    ...{ name: started.name, cells: opened, refused, table },
    async result(wait) {
      await Promise.all(opened.map(({ run }) => run.result(wait)));
      await Promise.all(cells.map(({ retried }) => retried));
      return table();
    },
  };
}
