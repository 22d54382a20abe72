// What an evaluation plays: each benchmark with each variant, as the wish for a run. One turn by default, and what the page of a
// benchmark says of sampling and repeats stands below what the caller says.

import { unusable } from '../../domain/errors/unusable.ts';
import { type Benchmark, findBenchmark } from '../../formats/benchmarks/find-rows.ts';
import { stemOfRuns } from '../../domain/run/run-name.ts';
import { EverturnError } from '../../domain/errors/errors.ts';
import type { ResolvedOptions, Sources } from '../../run/config.ts';
import type { RunOptions } from '../../run/options.ts';
import { withoutModelsAlone } from '../../run/environments.ts';
import { mustBeRunName } from '../../run/prepare-run.ts';
import type { CellWish, RefusedCell } from './cells.ts';
import { mustBeFew, slugsOf, type Variant } from './matrix.ts';

export interface EvaluationPlan {
  /** Names, pages, files, or places on the hub. */
  readonly benchmarks: readonly string[];
  readonly variants: readonly Variant[];
  /** Undefined: the runs have names that follow from what they play. */
  readonly name: string | undefined;
  readonly out: string;
  readonly strict: boolean;
  readonly cwd: string;
  /** The options of a run with these values, over the defaults that are given. */
  readonly resolve: (
    given: Readonly<Record<string, unknown>>,
    below: Pick<Sources, 'defaults' | 'benchmark'>,
  ) => ResolvedOptions;
}

const MOST_OF_NAME = 100;
const DEFAULTS: Partial<RunOptions> = { numTurns: 1 };

/** A benchmark that there is not refuses its cells alone. Throws a UsageError for options that do not fit. */
export function planCells(plan: EvaluationPlan): (CellWish | RefusedCell)[] {
  const { benchmarks, variants, name, out, strict, cwd, resolve } = plan;
  mustBeFew(benchmarks.length * variants.length);
  if (new Set(benchmarks).size < benchmarks.length)
    throw unusable('A benchmark is given twice.', 'Name each once; --repeats plays each problem several times.');
  if (name !== undefined) mustBeRunName(name);
  const most = MOST_OF_NAME - (name?.length ?? 0) - 2;
  const titles = slugsOf(benchmarks.map(titleOf), Math.floor(most / 2));
  const slugs = slugsOf(
    variants.map(({ label }) => label),
    most - Math.max(...titles.map(({ length }) => length)),
  );
  const pages = benchmarks.map((benchmark) => pageOf(benchmark, cwd));
  const isModelJudge = pages.some((page) => page && !(page instanceof EverturnError) && page.page.rubric);
  return benchmarks.flatMap((benchmark, b) => {
    const page = pages[b];
    return variants.map(({ label, given }, v): CellWish | RefusedCell => {
      if (page instanceof EverturnError) return { benchmark: titles[b]!, label, refused: page };
      const asked = resolve(given, { defaults: DEFAULTS, ...(page && { benchmark: settingsOf(page) }) });
      const resolved = !page && isModelJudge ? judgedByItself(asked, cwd) : asked;
      if (resolved.options.train) throw unusable('A trainer lives on one run.', 'Play it with `everturn run --train`.');
      const run = name === undefined ? undefined : `${name}-${titles[b]!}-${slugs[v]!}`;
      return { benchmark: titles[b]!, label, wish: { dataset: benchmark, out, name: run, strict, resolved } };
    });
  });
}

/** `gsm8k`, `rows` for `./data/rows.jsonl`, `math-500` for a place on the hub. */
const titleOf = (benchmark: string): string => stemOfRuns(benchmark.replace(/\.ya?ml$/i, '')).replace(/-$/, '');

function pageOf(benchmark: string, cwd: string): Benchmark | EverturnError | undefined {
  try {
    return findBenchmark(benchmark, cwd);
  } catch (error) {
    if (error instanceof EverturnError) return error;
    throw error;
  }
}

/** A model that is named for the pages that a model judges is no judge of a file, which has its own. */
const judgedByItself = (asked: ResolvedOptions, cwd: string): ResolvedOptions => ({
  ...asked,
  options: { ...asked.options, environment: withoutModelsAlone(asked.options.environment, cwd) },
});

const settingsOf = ({ page: { sampling, repeats } }: Benchmark): Partial<RunOptions> => ({
  ...sampling,
  ...(repeats !== undefined && { samples: repeats }),
});
