// The data set formats by file name.

import { statSync } from 'node:fs';
import { DatasetError } from '../../domain/errors/errors.ts';
import type { Dataset, DataSource } from './dataset.ts';
import { csvDataset } from './csv.ts';
import { harborDataset, isHarborPlace } from './harbor.ts';
import { jsonlDataset } from './jsonl.ts';
import { parquetDataset } from './parquet.ts';
import type { RowReading } from './row.ts';

const FORMATS: readonly {
  readonly extension: string;
  readonly open: (path: string, reading?: RowReading, files?: string[]) => Dataset;
}[] = [
  { extension: '.jsonl', open: jsonlDataset },
  { extension: '.ndjson', open: jsonlDataset },
  { extension: '.json', open: jsonlDataset },
  { extension: '.csv', open: csvDataset },
  { extension: '.tsv', open: csvDataset },
  { extension: '.parquet', open: parquetDataset },
];

/** The extension of a data set's file, also where `.gz` follows it; undefined: no format has it. */
export function datasetExtension(file: string): string | undefined {
  const name = file.toLowerCase().replace(/(?<!\.parquet)\.gz$/, '');
  return FORMATS.find(({ extension }) => name.endsWith(extension))?.extension;
}

export const sourceOf = (named: string | DataSource): DataSource =>
  typeof named === 'string' ? { path: named, files: [named] } : named;

/** Opens a file, or the files of a data set from a hub, by their extension. Reads nothing yet. */
export function openDataset(named: string | DataSource, reading?: RowReading): Dataset {
  const { path, files } = sourceOf(named);
  if (isHarborPlace(path)) return harborDataset(path, reading, [...files]);
  const file = files[0]!;
  const extension = datasetExtension(file);
  const format = FORMATS.find((one) => one.extension === extension);
  if (format) return format.open(path, reading, [...files]);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
    throw new DatasetError(`${file} is a folder`, {
      reason: 'dataset-is-folder',
      fix: 'Name a file of rows; a folder of tasks is harbor:<folder>.',
    });
  throw new DatasetError(`${file} has an unknown data set format`, {
    reason: 'dataset-format',
    fix: `Use a file whose name ends in ${FORMATS.map(({ extension }) => extension).join(', ')} (or texts with .gz).`,
  });
}
