// docs/read_samples.py reads ids by the rule of docs/samples.md, as domain/samples/sample-id.ts does. Needs a Python with numpy.

import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sampleId } from '../../../domain/samples/sample-id.ts';

const docs = join(import.meta.dirname, '../../../docs');
const python = [process.env['EVERTURN_TEST_PYTHON'], process.env['PYTHON'], 'python3'].find(
  (name) => name && spawnSync(name, ['-c', 'import numpy']).status === 0,
);

describe('read_samples.py', () => {
  test('reads from an id the query and the sample that it was made of', (context) => {
    context.skip(!python, 'there is no python3 with numpy (EVERTURN_TEST_PYTHON can name one)');
    const queries = ['x', 'x@1', 'x%401', '%@', '50%', '%2540', '@@', '\u00e9 \u{1f600}', 'e\u0301'];
    const names = queries.flatMap((query) => [0, 1, 12].map((sample) => [query, sample] as const));
    const program =
      'import json,sys;from read_samples import query_and_sample as q;print(json.dumps([q(i) for i in json.load(sys.stdin)]))';
    const input = JSON.stringify(names.map(([query, sample]) => sampleId(query, sample)));
    const said = execFileSync(python!, ['-c', program], { cwd: docs, input, encoding: 'utf8' });
    expect(JSON.parse(said)).toEqual(names);
  });
});
