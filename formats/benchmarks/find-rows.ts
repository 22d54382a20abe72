// The rows that a user names: a benchmark of `benchmarks/`, a page of their own, a file, or a place on the hub. A file that lies
// at the path comes before a benchmark of that name.

import { readdirSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { DatasetError } from '../../domain/errors/errors.ts';
import type { Wording } from '../../domain/query/query.ts';
import { short } from '../../domain/text/foreign-text.ts';
import { packageRoot } from '../../local/machine/package-root.ts';
import type { DataSource } from '../datasets/dataset.ts';
import { openDataset } from '../datasets/index.ts';
import { namesText, pairsOf } from '../datasets/near-layout.ts';
import { type Finder, findDataset } from '../hub/find-dataset.ts';
import { type Page, placeOf, readPage, refusePage, wordingOf } from './page.ts';

export interface Benchmark {
  readonly name: string;
  readonly page: Page;
  /** Of the page. */
  readonly file: string;
  /** As a user would name its data set. */
  readonly place: string;
}

export interface FoundRows {
  readonly source: DataSource;
  /** Its page's words and layout; undefined: the rows' own. */
  readonly wording?: Wording;
  /** Rows that its page says it has. */
  readonly size?: number;
}

const PAGE_FILE = /\.ya?ml$/i;
/** A file of rows has an extension. */
const NAME = /^[\w+-]+$/;

const folder = (): string => join(packageRoot(), 'benchmarks');

/** Those that ship with Everturn, by name. */
export const benchmarkNames = (): string[] =>
  readdirSync(folder())
    .flatMap((file) => (PAGE_FILE.test(file) ? [file.replace(PAGE_FILE, '')] : []))
    .sort();

const benchmarkAt = (file: string): Benchmark => {
  const page = readPage(file);
  return { name: basename(file).replace(PAGE_FILE, ''), page, file, place: placeOf(page, file) };
};

export const shippedBenchmark = (name: string): Benchmark => benchmarkAt(join(folder(), `${name}.yaml`));

/** Undefined where a file or a place on the hub is named. Throws a DatasetError for a bad page, and for a name that none has. */
export function findBenchmark(named: string, cwd: string): Benchmark | undefined {
  const path = resolve(cwd, named);
  if (PAGE_FILE.test(named)) return benchmarkAt(path);
  const there = NAME.test(named) ? statSync(path, { throwIfNoEntry: false }) : undefined;
  if (!NAME.test(named) || there?.isFile()) return undefined;
  const names = benchmarkNames();
  const name = names.find((one) => one === named.toLowerCase());
  if (name !== undefined) return shippedBenchmark(name);
  if (there) return undefined;
  const near = names.filter((one) => isNear(one, named.toLowerCase()));
  const some = near.length > 0 ? `Near it are: ${near.join(', ')}.` : `There are: ${names.join(', ')}.`;
  throw new DatasetError(`There is no file ${short(named, 80)}, and no benchmark of that name`, {
    reason: 'no-benchmark',
    fix: `${some} \`everturn benchmarks\` lists them; a file of rows is named with its extension.`,
  });
}

export async function findRows(benchmark: Benchmark | undefined, named: string, finder: Finder): Promise<FoundRows> {
  if (!benchmark) return { source: await findDataset(named, finder) };
  const { name, page, place } = benchmark;
  const source = { ...(await findDataset(place, finder)), benchmark: name };
  await mustHaveColumns(benchmark, source);
  return { source, wording: wordingOf(page), ...(page.size !== undefined && { size: page.size }) };
}

/** A field that its page names and no row has is the page's fault. */
async function mustHaveColumns({ page: { layout = {} }, file }: Benchmark, source: DataSource): Promise<void> {
  const { fields = {}, dates } = layout;
  const named = Object.entries(fields).map(([name, field]) => [['layout', 'fields', name], field] as const);
  const all = dates ? [...named, [['layout', 'dates', 'field'], dates.field] as const] : named;
  const wanted = all.map(([, field]) => field);
  const columns = all.length === 0 ? [] : await openDataset(source).columns(wanted);
  const absent = columns.length > 0 && all.find(([, field]) => !columns.includes(field));
  if (absent)
    refusePage(file, absent[0], `names no column: there is no ${short(absent[1], 80)}, but ${namesText(columns)}`);
}

/** Half of the pairs of letters of the shorter name stand in the other one, too. */
function isNear(one: string, other: string): boolean {
  const [few, many] = [pairsOf(one), pairsOf(other)].sort((a, b) => a.length - b.length) as [string[], string[]];
  return few.length > 0 && few.filter((pair) => many.includes(pair)).length * 2 >= few.length;
}
