// A run folder on somebody's disk outlives the code that wrote it. This one was written by commit f4cc944:
// `run examples/arithmetic.jsonl --limit 4 --num-turns 3 --samples 2 --seed 7 --deterministic`, with its own export.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tokenizerOf } from '../../../cli/find/tokenizer.ts';
import { buildProgram } from '../../../cli/program.ts';
import { areal } from '../../../formats/exports/areal.ts';
import { checkRun } from '../../../records/check/check.ts';
import { exportRun } from '../../../records/export-run.ts';
import { openFileStore } from '../../../records/files.ts';
import { scriptedIo } from '../../cli/scripted-io.ts';
import { unpack } from './forger.ts';

const folder = mkdtempSync(join(tmpdir(), 'everturn-old-run-'));
beforeAll(() => unpack('run-old.json', folder));
afterAll(() => rmSync(folder, { recursive: true }));

describe('a run folder of an older release', () => {
  test('is checked without a breach, its ids by the tokenizer that made them', async () => {
    const store = openFileStore(folder, 'old');
    const { tokenizer, why } = await tokenizerOf(store, folder);
    expect(why).toBe('');
    const problems: string[] = [];
    const report = ({ path, problem }: { path: string; problem: string }) => problems.push(`${path}: ${problem}`);
    await checkRun(store, report, { export: { exporter: areal }, tokenizer });
    expect(problems).toEqual([]);
  });

  test('is exported to the bytes that the older release exported', async () => {
    const out = join(folder, 'today.jsonl');
    await exportRun(openFileStore(folder, 'old'), areal, out);
    const old = readFileSync(join(folder, 'old-areal.jsonl'), 'utf8');
    expect(old.trimEnd().split('\n')).toHaveLength(8);
    expect(readFileSync(out, 'utf8')).toBe(old);
  });

  test.each(['arith-0001', 'arith-0004'])('shows every turn of %s', async (query) => {
    const io = scriptedIo({ tty: false, cwd: folder, env: {} });
    const program = await buildProgram(io, ['show'], () => {});
    await program.parseAsync(['show', 'old', query, '--out', folder, '--sample', '1'], { from: 'user' });
    for (const turn of [1, 2, 3]) expect(io.text.out).toMatch(new RegExp(`turn ${turn}`, 'i'));
    expect(io.text.out).toMatch(/right/);
    expect(io.text.err).toBe('');
  });
});
