// Reading a data set against the least that anybody can do: readline and JSON.parse.
//   npx vitest bench test/bench/dataset.bench.ts

import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, bench, describe } from 'vitest';
import { jsonlDataset } from '../../formats/datasets/jsonl.ts';

const folder = mkdtempSync(join(tmpdir(), 'everturn-bench-'));
afterAll(() => rmSync(folder, { recursive: true }));

const words = 'a train leaves the station at noon with forty people and stops seven times before the sea '.split(' ');
const file = join(folder, 'rows.jsonl');
const rows = Array.from({ length: 100_000 }, (_, i) => ({
  id: `train/${i}`,
  question: Array.from({ length: 60 }, (__, j) => words[(i * 7 + j * j) % words.length]).join(' '),
  answer: `First ${i}, then half of it.\n#### ${i / 2}`,
}));
writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

describe('100,000 rows of 0.4 KB', () => {
  bench('readline and JSON.parse', async () => {
    let parsed = 0;
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      if (JSON.parse(line)) parsed++;
    }
    if (parsed !== rows.length) throw new Error('rows are missing');
  });

  bench('everturn: checked, with duplicates found', async () => {
    let good = 0;
    for await (const row of jsonlDataset(file).rows()) if (row.ok) good++;
    if (good !== rows.length) throw new Error('rows are missing');
  });
});
