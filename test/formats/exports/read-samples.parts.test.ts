// docs/read_samples.py, written from the algorithm's text alone, reads what a run folder exports. It needs a Python
// with numpy: `EVERTURN_TEST_PYTHON` or `PYTHON` names one, else python3 is tried; where neither is, the tests say so and are skipped.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { areal } from '../../../formats/exports/areal.ts';
import { FEEDBACK_WRONG } from '../../../domain/context/feedback.ts';
import { sampleId } from '../../../domain/samples/neutral-row.ts';
import { exportRun } from '../../../records/export/export-run.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { aQuery, play, putRun, RUN, someSettings } from '../../records/play.ts';

const DOCS = join(import.meta.dirname, '../../../docs');
const READER = join(DOCS, 'read_samples.py');
const DISCOUNT = 0.9;
// Any number of these has no exact float32 value.
const settings = someSettings({ turnDiscount: DISCOUNT, rewardScaling: 0.3, rewardBias: 0.1, numTurns: 5 });
const REWARDS = ['--discount', '0.9', '--scaling', '0.3', '--bias', '0.1'];

const python = [process.env['EVERTURN_TEST_PYTHON'], process.env['PYTHON'], 'python3'].find(
  (name) => name && spawnSync(name, ['-c', 'import numpy']).status === 0,
);
const folder = mkdtempSync(join(tmpdir(), 'everturn-read-samples-'));
const file = join(folder, 'samples.jsonl');
let lines: string[];

const SKIPPED =
  'docs/read_samples.py is not tested: there is no python3 with numpy (EVERTURN_TEST_PYTHON can name one)';
if (!python) console.warn(SKIPPED);
beforeEach((context) => {
  if (!python) context.skip(SKIPPED);
});

beforeAll(async () => {
  const store = openFileStore(folder, RUN);
  const queries = [aQuery('q/1'), aQuery('Q "2" ünï'), aQuery('q3', { task: 'code' }), aQuery('q4')];
  await putRun(store, queries, { samples: 2, settings });
  const [first, second, third, fourth] = queries as [(typeof queries)[0], ...typeof queries];
  await play(store, { query: first, settings, verdicts: ['wrong', 'right', 'wrong', 'wrong', 'right'] });
  await play(store, { query: first, sample: 1, settings, verdicts: ['right'], stop: 'success' });
  await play(store, {
    query: second!,
    index: 1,
    settings,
    verdicts: ['wrong', 'wrong', 'right'],
    versions: [0, 3, 4],
    turn: (turn) => ({
      outputIds: Array.from({ length: 50 * turn }, (_, i) => 151_000 + i),
      logprobs: Array.from({ length: 50 * turn }, (_, i) => -Math.log(1 + (i + 1) / 7)),
      finish: turn === 2 ? 'length' : 'stop',
    }),
  });
  await play(store, { query: third!, index: 2, settings, verdicts: ['right', 'right'] });
  await play(store, { query: fourth!, index: 3, settings, verdicts: ['wrong'], stop: 'failed' });
  await exportRun(store, areal, file);
  lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('docs/read_samples.py', () => {
  test('every sample of an export holds to the algorithm, and its rewards follow from its verdicts', () => {
    const { status, stdout, stderr } = spawnSync(python!, [READER, file, ...REWARDS], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      samples: 4,
      turns: 11,
      sampled_tokens: 8 * 3 + 50 + 100 + 150,
      context_tokens: 75 + 3 + (3 + 56 + 159) + (3 + 9),
      turns_without_eos: 1,
      versions: [0, 3, 4],
      accuracy_by_turn: [2 / 4, 2 / 3, 1 / 2, 0, 1],
    });
  });

  test('what Python reads is what the records hold', () => {
    const program = [
      'import json; from read_samples import read',
      'def plain(t): return {"outputIds": t.output.tolist(), "context": t.context.tolist(), "no_eos": t.no_eos,',
      '  "logprobs": t.logprobs.tolist(), "bits": t.logprobs.view("int32").tolist(), "versions": [t.version_start, t.version_end]}',
      `s = [s for s in read(${JSON.stringify(file)}) if s.id.startswith("Q")][0]`,
      'print(json.dumps([s.id, s.task, s.birth_time_ms, s.prompt.tolist(), [plain(t) for t in s.turns]]))',
    ].join('\n');
    const [id, task, born, prompt, turns] = JSON.parse(runPython(program)) as [
      string,
      string,
      number,
      number[],
      {
        outputIds: number[];
        context: number[];
        no_eos: boolean;
        logprobs: number[];
        bits: number[];
        versions: number[];
      }[],
    ];
    // `play` makes ids from a text's length, and times from the query's index.
    const texts = ['What is Q "2" ünï?', `\n${FEEDBACK_WRONG}`, `\n${FEEDBACK_WRONG}`];
    const contexts = texts.map((text) => [100 + text.length, 200, 300]);
    expect([id, task, born, prompt]).toEqual(['Q "2" ünï', 'math', 1_700_000_010_000, contexts[0]]);
    expect(turns).toHaveLength(3);
    let before: number[] = [];
    for (const [i, turn] of turns.entries()) {
      const logprobs = Float32Array.from({ length: 50 * (i + 1) }, (_, k) => -Math.log(1 + (k + 1) / 7));
      expect(turn.context).toEqual([...before, ...contexts[i]!]);
      expect(turn.outputIds).toEqual(Array.from({ length: 50 * (i + 1) }, (_, k) => 151_000 + k));
      expect(turn.logprobs).toEqual([...logprobs]);
      expect(turn.bits).toEqual([...new Int32Array(logprobs.buffer)]);
      expect([turn.no_eos, turn.versions]).toEqual([i === 1, [[0, 3, 4][i], [0, 3, 4][i]]]);
      before = [...turn.context, ...turn.outputIds];
    }
  });

  test('an answer whose tokens an environment masked is whole, and says which are trained', () => {
    const sample = JSON.parse(lines[0]!) as Loose;
    // Turn 1 from its first token on, turn 2 its last token, turn 3 all of it.
    for (const at of [3, 4, 6 + 11, 18 + 15, 18 + 16, 18 + 17]) sample.data['prompt_mask']![at] = true;
    const path = join(folder, 'masked.jsonl');
    writeFileSync(path, `${JSON.stringify(sample)}\n`);
    const said = 'print(json.dumps([[t.output.tolist(), t.trained.tolist()] for s in read(path) for t in s.turns]))';
    const read = (file: string) =>
      JSON.parse(runPython(`import json; from read_samples import read; path = ${JSON.stringify(file)}; ${said}`)) as [
        number[],
        boolean[],
      ][];
    const [masked, plain] = [read(path), read(file).slice(0, 5)];
    expect(masked.map(([ids]) => ids)).toEqual(plain.map(([ids]) => ids));
    const all = [true, true, true];
    expect(masked.map(([, trained]) => trained)).toEqual([
      ...[[false, false, true], [true, true, false], [false, false, false], all, all],
    ]);
  });

  test('reads from an id the query and the sample that it was made of', () => {
    const texts = ['x', 'x@1', 'x%401', '%@', '50%', '%2540', '@@', '\u00e9 \u{1f600}', 'e\u0301'];
    const names = texts.flatMap((query) => [0, 1, 12].map((sample) => [query, sample] as const));
    const made = JSON.stringify(names.map(([query, sample]) => sampleId(query, sample)));
    const program = `import json; from read_samples import query_and_sample as q; print(json.dumps([q(i) for i in json.loads(${JSON.stringify(made)})]))`;
    expect(JSON.parse(runPython(program))).toEqual(names);
  });

  interface Loose {
    ids: string[];
    keys: string[];
    dtypes: Record<string, string>;
    seqlens: Record<string, number[][]>;
    data: Record<string, unknown[]>;
  }

  // The first line has 5 turns of 3 new context ids and 3 sampled ones: lengths 6, 12, 18, 24, 30.
  const HARMS: readonly (readonly [name: string, complaint: RegExp, harm: (sample: Loose) => void])[] = [
    ['a key that is missing', /keys are/, (s) => s.keys.splice(0, 1)],
    ['another dtype', /rewards has dtype/, (s) => (s.dtypes['rewards'] = 'torch.float64')],
    ['a float where an id should be', /input_ids\[2\] is 1.5/, (s) => (s.data['packed_input_ids']![2] = 1.5)],
    ['a number where a truth value should be', /mask\[0\] is 1/, (s) => (s.data['prompt_mask']![0] = 1)],
    ['a version beyond 32 bits', /outside torch.int32/, (s) => (s.data['version_end']![0] = 2 ** 31)],
    ['a logprob that float32 cannot hold', /no float32 value/, (s) => (s.data['packed_logprobs']![2] = -0.1)],
    ['a value too few', /values, seqlens say/, (s) => s.data['packed_logprobs']!.pop()],
    ['one logprob per token', /seqlens of packed_logprobs/, perToken],
    ['a mask that is false on the context', /is not true on the context/, (s) => swapMask(s, 1, 4)],
    ['a logprob on the context', /turn 1 has logprobs on its context/, (s) => (s.data['packed_logprobs']![1] = -1)],
    [
      'logprobs one place early',
      /turn 1 has logprobs on/,
      (s) => s.data['packed_logprobs']!.push(s.data['packed_logprobs']!.shift()),
    ],
    ['a logprob above zero', /above zero/, (s) => (s.data['packed_logprobs']![2] = 1)],
    [
      'an answer that changed in the next context',
      /turn 2's context does not begin/,
      (s) => (s.data['packed_input_ids']![6 + 4] = 9),
    ],
    ['another prompt', /not packed_prompts/, (s) => (s.data['packed_prompts']![0] = 9)],
    ['an id of a query that was there', /was there before/, (s) => s.ids.splice(0, 1, 'q/1@1')],
  ];

  function perToken({ data, seqlens }: Loose): void {
    data['packed_logprobs']!.push(0, 0, 0, 0, 0);
    seqlens['packed_logprobs'] = seqlens['packed_input_ids']!;
  }

  function swapMask({ data }: Loose, a: number, b: number): void {
    const mask = data['prompt_mask']!;
    [mask[a], mask[b]] = [mask[b], mask[a]];
  }

  test('what is not as the algorithm says is refused, with the line, the query and the key', () => {
    const files = HARMS.map(([, , harm], i) => {
      const sample = JSON.parse(lines[0]!) as Loose;
      harm(sample);
      const path = join(folder, `harmed-${i}.jsonl`);
      writeFileSync(path, [lines[1], JSON.stringify(sample), ''].join('\n'));
      return path;
    });
    const program = [
      'import json; from read_samples import BadSample, read',
      'def said(path):',
      '  try: return len(list(read(path)))',
      '  except BadSample as error: return str(error)',
      `print(json.dumps([said(path) for path in ${JSON.stringify([file, ...files])}]))`,
    ].join('\n');
    const [whole, ...said] = JSON.parse(runPython(program)) as unknown[];
    expect(whole).toBe(4);
    for (const [i, [name, complaint]] of HARMS.entries()) {
      expect(said[i], name).toMatch(complaint);
      expect(said[i], name).toContain('line 2, query ');
    }
  });

  test('what AReaL’s own agent made of its rollouts is read the same way', () => {
    const made = JSON.parse(readFileSync(join(import.meta.dirname, '../../fixtures/areal-samples.json'), 'utf8')) as {
      sample: object;
    }[];
    const path = join(folder, 'areal.jsonl');
    writeFileSync(path, made.map(({ sample }) => `${JSON.stringify(sample)}\n`).join(''));
    const { status, stdout, stderr } = spawnSync(python!, [READER, path], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ samples: made.length });
  });
});

function runPython(program: string): string {
  return execFileSync(python!, ['-c', program], {
    cwd: DOCS,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
  }).toString();
}
