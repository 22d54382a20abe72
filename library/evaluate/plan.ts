// What an evaluation plays: each benchmark with each variant, as the wish for a run. One turn by default, and what the page of a
// benchmark says of sampling and repeats stands below what the caller says.

import { existsSync } from 'node:fs';
import { resolve as resolvePath } from 'node:path';
import { unusable } from '../../domain/errors/unusable.ts';
import { type Benchmark, findBenchmark } from '../../formats/benchmarks/find-rows.ts';
import { stemOfRuns } from '../../domain/run/run-name.ts';
import { EverturnError } from '../../domain/errors/errors.ts';
import type { ResolvedOptions, Sources } from '../../run/config.ts';
import type { RunOptions } from '../../run/options.ts';
import { withoutModelsAlone } from '../../run/environments.ts';
import { mustBeRunName } from '../../run/prepare-run.ts';
import type { CellWish, RefusedCell } from './cells.ts';
import { mustBeFew, ownSlug, slugOf, stableNames, type Variant } from './matrix.ts';
import type { RecordedCell } from '../../records/run/evaluation-record.ts';

export interface EvaluationPlan {
  /** Names, pages, files, or places on the hub. */
  readonly benchmarks: readonly string[];
  readonly variants: readonly Variant[];
  /** Undefined: the runs have names that follow from what they play. */
  readonly name: string | undefined;
  readonly out: string;
  readonly strict: boolean;
  readonly cwd: string;
  /** The cells that the evaluation of this name has: their names stay. */
  readonly known?: readonly RecordedCell[] | undefined;
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
  const { benchmarks, variants, name, out, strict, cwd, known = [], resolve } = plan;
  mustBeFew(benchmarks.length * variants.length);
  if (new Set(benchmarks).size < benchmarks.length)
    throw unusable('A benchmark is given twice.', 'Name each once; --repeats plays each problem several times.');
  if (name !== undefined) mustBeRunName(name);
  const most = MOST_OF_NAME - (name?.length ?? 0) - 2;
  const mostOfTitle = Math.floor(most / 2);
  const places = benchmarks.map((benchmark) => wholeOf(benchmark, cwd));
  const titles = stableNames(
    places,
    new Map(known.map(({ of, benchmark }) => [of.benchmark, benchmark])),
    (_, b) => slugOf(titleOf(benchmarks[b]!), mostOfTitle),
    (whole, slug) => ownSlug(whole, slug, mostOfTitle),
  );
  const mostOfSlug = most - Math.max(...titles.map(({ length }) => length));
  const wholes = variants.map(({ whole }) => whole);
  const labels = stableNames(
    wholes,
    new Map(known.map(({ of, label }) => [of.variant, label])),
    (_, v) => variants[v]!.label,
    (whole) => whole,
  );
  const slugs = stableNames(
    wholes,
    new Map(known.flatMap((cell) => slugIn(cell, name))),
    (_, v) => slugOf(labels[v]!, mostOfSlug),
    (whole, slug) => ownSlug(whole, slug, mostOfSlug),
  );
  const pages = benchmarks.map((benchmark) => pageOf(benchmark, cwd));
  const isModelJudge = pages.some((page) => page && !(page instanceof EverturnError) && page.page.rubric);
  return benchmarks.flatMap((benchmark, b) => {
    const page = pages[b];
    return variants.map(({ given }, v): CellWish | RefusedCell => {
      const label = labels[v]!;
      if (page instanceof EverturnError) return { benchmark: titles[b]!, label, refused: page };
      const asked = resolve(given, { defaults: DEFAULTS, ...(page && { benchmark: settingsOf(page) }) });
      const resolved = !page && isModelJudge ? judgedByItself(asked, cwd) : asked;
      if (resolved.options.train) throw unusable('A trainer lives on one run.', 'Play it with `everturn run --train`.');
      const run = name === undefined ? undefined : `${name}-${titles[b]!}-${slugs[v]!}`;
      const of = { benchmark: places[b]!, variant: wholes[v]! };
      return { benchmark: titles[b]!, label, of, wish: { dataset: benchmark, out, name: run, strict, resolved } };
    });
  });
}

/** The same file by whatever path. */
function wholeOf(benchmark: string, cwd: string): string {
  const path = resolvePath(cwd, benchmark);
  return existsSync(path) ? path : benchmark;
}

/** The part of a recorded run's name that is its variant's. */
function slugIn({ of, benchmark, run }: RecordedCell, name: string | undefined): (readonly [string, string])[] {
  const before = `${name}-${benchmark}-`;
  return run.startsWith(before) ? [[of.variant, run.slice(before.length)]] : [];
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
