// The data set formats by file name.

import { statSync } from 'node:fs';
import { DatasetError } from '../../domain/errors/errors.ts';
import type { Dataset } from './dataset.ts';
import { csvDataset } from './csv.ts';
import { jsonlDataset } from './jsonl.ts';
import { parquetDataset } from './parquet.ts';
import type { RowReading } from './row.ts';

const FORMATS: readonly {
  readonly extension: string;
  readonly open: (file: string, reading?: RowReading) => Dataset;
}[] = [
  { extension: '.jsonl', open: jsonlDataset },
  { extension: '.ndjson', open: jsonlDataset },
  { extension: '.json', open: jsonlDataset },
  { extension: '.csv', open: csvDataset },
  { extension: '.tsv', open: csvDataset },
  { extension: '.parquet', open: parquetDataset },
];

/** Opens a data set by its file's extension, also followed by `.gz`. Reads nothing yet. */
export function openDataset(file: string, reading?: RowReading): Dataset {
  const name = file.toLowerCase().replace(/(?<!\.parquet)\.gz$/, '');
  const format = FORMATS.find(({ extension }) => name.endsWith(extension));
  if (format) return format.open(file, reading);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
    throw new DatasetError(`${file} is a folder`, { reason: 'dataset-is-folder', fix: 'Name a file of rows.' });
  throw new DatasetError(`${file} has an unknown data set format`, {
    reason: 'dataset-format',
    fix: `Use a file whose name ends in ${FORMATS.map(({ extension }) => extension).join(', ')} (or texts with .gz).`,
  });
}
