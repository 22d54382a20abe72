// Reads a benchmark's rows by its name: the files of its page, made here in its authors' layout, lie in a hub's cache.

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import type { SolutionReader } from '../../../domain/query/solution-reader.ts';
import { findBenchmark, findRows, shippedBenchmark } from '../../../formats/benchmarks/find-rows.ts';
import { parseHubPlace } from '../../../formats/hub/place.ts';
import { readRows } from '../../../run/rows.ts';
import { wordingOf } from '../../../run/wording.ts';
import { rowsOf } from '../../support/rows.ts';

const envOf = (root: string) => ({ HF_HUB_CACHE: join(root, 'hub'), HF_HUB_OFFLINE: '1' });
const COMMIT = 'c'.repeat(40);
/** Where the hub's files are that a page names by configuration and split. */
const SPLIT_FILES: Readonly<Record<string, string>> = {
  gsm8k: 'main/test-00000-of-00001.parquet',
  aime24: 'data/train-00000-of-00001.parquet',
};
export const made = (name: string, extension: string) => join(import.meta.dirname, 'rows', `${name}.${extension}`);

type Row = Readonly<Record<string, unknown>>;

/** As `hf download` leaves it. `rows`: those that are made beside this file, if it has none. */
export function putInCache(name: string, root: string, rows?: readonly Row[]): void {
  const { page, place } = shippedBenchmark(name);
  const { repo, revision } = parseHubPlace(place);
  const file = page.source.file ?? SPLIT_FILES[name]!;
  const folder = join(envOf(root).HF_HUB_CACHE, `datasets--${repo.replace('/', '--')}`);
  const path = join(folder, 'snapshots', revision === 'main' ? COMMIT : revision, file);
  mkdirSync(dirname(path), { recursive: true });
  if (file.endsWith('.csv')) copyFileSync(made(name, 'csv'), path);
  else if (file.endsWith('.jsonl'))
    writeFileSync(path, rows ? rows.map((row) => JSON.stringify(row)).join('\n') : readFileSync(made(name, 'jsonl')));
  else writeFileSync(path, parquetOf(rows ?? rowsOf(`./rows/${name}.jsonl`, import.meta.url)));
  mkdirSync(join(folder, 'refs'), { recursive: true });
  if (revision === 'main') writeFileSync(join(folder, 'refs/main'), COMMIT);
}

function parquetOf(rows: readonly Row[]): Uint8Array {
  const columnData = Object.keys(rows[0]!).map((name) => {
    const data = rows.map((row) => row[name] ?? null);
    const kinds = new Set(data.flatMap((value) => (value === null ? [] : [typeof value])));
    return { name, data, type: TYPES.find(([kind]) => kinds.has(kind))?.[1] ?? ('STRING' as const) };
  });
  return new Uint8Array(parquetWriteBuffer({ columnData }));
}

const TYPES = [
  ['object', 'JSON'],
  ['number', 'DOUBLE'],
  ['boolean', 'BOOLEAN'],
] as const;

export async function rowsNamed(
  named: string,
  root: string,
  solutions: SolutionReader,
  { prompt, limit = null }: { readonly prompt?: string; readonly limit?: number | null } = {},
) {
  const { source, wording, size } = await findRows(findBenchmark(named, root), named, { cwd: root, env: envOf(root) });
  const words = wordingOf({ system: null, prompt: prompt ?? null }, root, wording);
  const rows = await readRows({ dataset: source, limit, shuffleSeed: null, wording: words, size }, solutions);
  const queries = [];
  for await (const query of rows.queries()) queries.push(query);
  rows.close();
  return { rows, queries };
}
