// The judge on the command line: verdicts on stdout in order, everything else on stderr; and a run judged again.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../cli/exit.ts';
import { buildProgram } from '../../cli/program.ts';
import { judgePairs } from '../../library/index.ts';
import { checkRun } from '../../records/check/check.ts';
import { openFileStore } from '../../records/file-store.ts';
import { aQuery, play, putRun, RUN } from '../records/play.ts';
import { bytesIn } from '../records/ended-rig.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { scriptedIo } from './scripted-io.ts';

const cwd = scratchFolder();

async function judge(args: readonly string[], options: { input?: string; env?: Record<string, string> } = {}) {
  const io = scriptedIo({ cwd, ...options });
  let code: number | undefined;
  let message = '';
  try {
    const program = await buildProgram(io, ['judge'], (ended) => (code = ended));
    await program.parseAsync(['judge', ...args], { from: 'user' });
  } catch (error) {
    code = exitCodeOf(error);
    message = error instanceof Error ? error.message : '';
  }
  const lines = io.text.out.split('\n').filter((line) => line.startsWith('{'));
  return { code, message, ...io.text, rows: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}
const jsonl = (...rows: unknown[]) =>
  rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n');

describe('everturn judge', () => {
  test('prints one verdict a line, in the lines’ order, and bad lines by file, line and field', async () => {
    writeFileSync(
      join(cwd, 'pairs.jsonl'),
      jsonl(
        { id: 'a', answer: 'It is \\boxed{0.5}.', solutions: ['1/2'] },
        '',
        { id: 'b', answer: 7 },
        { answer: '0.33', solutions: ['1/3'], options: { decimals: 2 } },
        { id: 'd', answer: 'none', solutions: ['1'] },
      ),
    );
    const { code, rows, err } = await judge(['pairs.jsonl']);
    expect(code).toBe(0);
    expect(rows).toEqual([
      { id: 'a', verdict: 'right', reason: 'equal', extracted: '0.5' },
      { id: 'b', verdict: 'undecided', reason: 'bad-line', extracted: null },
      { id: '4', verdict: 'right', reason: 'equal-rounded', extracted: '0.33' },
      expect.objectContaining({ id: 'd', verdict: 'wrong' }),
    ]);
    expect(err).toContain('pairs.jsonl:3: `answer` is a number');
    expect(err).toContain('3 answers: 2 right, 1 wrong, 0 undecided; 1 bad line not judged.');
  });

  test('names a field that nothing reads once, and with --explain the place of the answer', async () => {
    const row = { answer: 'So it is \\boxed{6}.', solutions: ['Thus \\boxed{7}.'], level: 5 };
    const { rows, err } = await judge(['-', '--explain'], { input: jsonl(row, row) });
    expect(rows[0]).toMatchObject({ verdict: 'wrong', extracted: '6', found: 'box', against: '7' });
    expect(err.match(/`level` is not read/g)).toHaveLength(1);
  });

  test('gives a program its verdicts, and the lines that have none', async () => {
    const lines: (number | undefined)[] = [];
    const found = [];
    for await (const { id, verdict } of judgePairs('pairs.jsonl', { cwd, onBad: ({ line }) => lines.push(line) }))
      found.push([id, verdict]);
    expect({ found, lines }).toEqual({
      found: [
        ['a', 'right'],
        ['b', 'undecided'],
        ['4', 'right'],
        ['d', 'wrong'],
      ],
      lines: [3],
    });
  });

  test('reads standard input for -, and hostile text cannot steer the terminal', async () => {
    const { code, out, rows } = await judge(['-'], {
      input: jsonl({ answer: '\\boxed{1\u009b\u202e2}', solutions: ['3'] }),
    });
    expect(code).toBe(0);
    expect(out).not.toMatch(/[\u0080-\u009f\u202e]/);
    expect(rows[0]?.['extracted']).toContain('\u009b');
  });

  test.each([
    ['a file that is not there', ['nowhere.jsonl'], '', 6],
    ['nothing at all', ['-'], '', 6],
    ['bad lines only', ['-'], '{}\n[]', 6],
    ['no file and no run', [], '', 2],
    ['both a file and a run', ['-', '--run', 'x'], '', 2],
    ['a run that is not there', ['--run', 'x'], '', 2],
  ])('%s is an error with its own exit code', async (_, args, input, code) => {
    expect((await judge(args, { input })).code).toBe(code);
  });

  test('code without a sandbox is refused, not judged', async () => {
    const row = { answer: '', input_output: { inputs: ['1'], outputs: ['1'] } };
    const before = process.env['PATH'];
    process.env['PATH'] = '/nowhere';
    try {
      const { code, rows } = await judge(['-'], { input: jsonl(row) });
      expect({ code, rows }).toEqual({ code: 7, rows: [] });
    } finally {
      process.env['PATH'] = before;
    }
  });

  test('a run’s new verdicts lie beside the old ones, and what changed is told', async () => {
    const out = mkdtempSync(join(cwd, 'runs-'));
    const store = openFileStore(out, RUN);
    // Turn t answers "it is t".
    const queries = [aQuery('one', { solutions: ['1'] }), aQuery('two', { solutions: ['2'] })];
    await putRun(store, queries);
    for (const [index, query] of queries.entries())
      await play(store, { query, index, verdicts: ['wrong', 'right', 'wrong'] });
    const before = bytesIn(store.folder);

    const { code, rows, message } = await judge(['--run', RUN, '--out', out, '--name', 'new', '--json']);
    expect(code, message).toBe(0);
    expect(rows[0]).toMatchObject({
      run: RUN,
      file: 'judgements/new.jsonl',
      turns: 6,
      changed: 2,
      verdicts: [
        { was: 'right', now: 'right', turns: 1 },
        { was: 'right', now: 'wrong', turns: 1 },
        { was: 'wrong', now: 'right', turns: 1 },
        { was: 'wrong', now: 'wrong', turns: 3 },
      ],
      examples: [
        { query: 'one', sample: 0, turn: 1, verdict: 'right', was: { verdict: 'wrong', reason: 'scripted' } },
        { query: 'one', sample: 0, turn: 2, verdict: 'wrong', was: { verdict: 'right', reason: 'scripted' } },
      ],
      leftOut: { unjudged: 0, broken: 0 },
    });
    const written = readFileSync(join(store.folder, 'judgements/new.jsonl'), 'utf8').trim().split('\n');
    expect(written).toHaveLength(6);
    expect(bytesIn(store.folder)).toMatchObject(before);
    // No collection played these rollouts: none will write a result.
    const options = { isGoing: async () => true };
    expect((await checkRun(store, (breach) => expect.fail(JSON.stringify(breach)), options)).judgements).toBe(6);

    const again = await judge(['--run', RUN, '--out', out, '--name', 'new']);
    expect(again.code).toBe(2);
    expect(again.message).toContain('already');
    const text = await judge(['--run', RUN, '--out', out]);
    expect(text.out).toMatch(/^wrong +right +1$/m);
    expect(text.out).toContain('one, sample 0, turn 1: wrong (scripted) → right');
  });
});
