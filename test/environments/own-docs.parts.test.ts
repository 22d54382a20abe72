// docs/environments.md and examples/environments as they are written: every environment in them loads and replies; and
// the commands `env new`, `env test` and `judge --run --environment`.

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exitCodeOf } from '../../cli/exit.ts';
import { buildProgram } from '../../cli/program.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import { parseAgent } from '../../run/agents.ts';
import { checkRun } from '../../records/check/check.ts';
import { openFileStore } from '../../records/file-store.ts';
import { scriptedIo } from '../cli/scripted-io.ts';
import { aQuery, play, putRun, RUN } from '../records/play.ts';
import { ownRig } from './own/own-rig.ts';
import { playOwn, rolloutOf } from './own/rollouts.ts';
import { describeUnless, NO_PYTHON } from '../support/needs.ts';

const ROOT = join(import.meta.dirname, '../..');
const EXAMPLES = join(ROOT, 'examples/environments');
const hasSandbox = spawnSync('bwrap', ['--unshare-all', '--ro-bind', '/', '/', '/usr/bin/python3', '-V']).status === 0;
const { folder, describeText, open } = ownRig();
const own = open({ processes: 1 });
const described = new Map<string, ReturnType<typeof describeText>>();

async function replies(text: string, row: JsonObject, answers: readonly string[]) {
  if (!described.has(text)) described.set(text, describeText(text, folder));
  const { record } = await described.get(text)!;
  return { record, ...(await playOwn(own.open(record, folder), rolloutOf(record, row), answers)) };
}

describeUnless(NO_PYTHON)('the page on environments', () => {
  const page = readFileSync(join(ROOT, 'docs/environments.md'), 'utf8');
  const blocks = [...page.matchAll(/```(python|ts)\n(.*?)```/gs)].map(([, language, code]) => ({
    language: language!,
    code: code!,
  }));

  test('has a complete environment in each language', () => {
    expect(blocks.map(({ language }) => language)).toEqual(['python', 'ts']);
  });

  test('has the one that the README shows', () => {
    expect(readFileSync(join(ROOT, 'README.md'), 'utf8')).toContain(`\`\`\`python\n${blocks[0]!.code}\`\`\``);
  });

  test.each(blocks)(
    'has one that replies as it is written, and judges the rows of the examples: $language',
    async ({ language, code }) => {
      const file = join(folder, language === 'python' ? 'last_number.py' : 'page.ts');
      writeFileSync(file, code);
      const answers = ['It is 41', 'I do not know.', 'It is \\boxed{42}.'];
      const solutions = ['20 + 22 = 42. The answer is \\boxed{42}.'];
      for (const row of [{ answer: '42' }, { answer: 42 }, { solutions }, { solutions: ['no number', '42'] }]) {
        const { record, replies: said } = await replies(file, row, answers);
        expect(record).toMatchObject({ name: 'last-number', version: '1' });
        expect(said.map(({ verdict }) => verdict?.verdict)).toEqual(['wrong', 'wrong', 'right']);
      }
      const rows = readFileSync(join(ROOT, 'examples/arithmetic.jsonl'), 'utf8').trimEnd().split('\n').slice(0, 2);
      for (const row of rows.map((line) => JSON.parse(line) as JsonObject & { solutions: string[] })) {
        const { replies: said } = await replies(file, row, ['-1', row.solutions[0]!]);
        expect(said.map(({ verdict }) => verdict?.verdict)).toEqual(['wrong', 'right']);
      }
    },
  );
});

describeUnless(NO_PYTHON)('the examples', () => {
  test('in Python and in TypeScript reply the same', async () => {
    const row = { solutions: ['17 + 25 is \\boxed{42}.'] };
    const answers = ['It is 40.', 'I do not know.', '43.5', '42'];
    const [python, typescript] = await Promise.all(
      ['closer.py', 'closer.ts'].map((name) => replies(join(EXAMPLES, name), row, answers)),
    );
    expect(python!.replies).toEqual(typescript!.replies);
    expect(python!.replies.map(({ verdict }) => verdict?.reason)).toEqual([
      'too-low',
      'environment',
      'too-high',
      'environment',
    ]);
    expect(python!.replies.at(-1)).toMatchObject({ reward: 1, done: true });
  });

  test('hold a game of two players, in which O stops X, and a move on a taken cell loses', async () => {
    const tictactoe = join(EXAMPLES, 'tictactoe.ts');
    const { begun, replies: lost } = await replies(tictactoe, {}, ['1', 'I take 1 again']);
    expect(begun!.messages![0]!.content).toContain('1 2 3\n4 5 6\n7 8 9');
    expect(lost.at(-1)).toMatchObject({ verdict: { reason: 'illegal-move' }, reward: -1, done: true });
    // X has two corners: O's only move is between them, or X has won.
    const { replies: stopped } = await replies(tictactoe, { opening: 'X...O....' }, ['3']);
    expect(stopped[0]!.state).toEqual({ board: 'XOX.O....' });
    const { replies: won } = await replies(tictactoe, { opening: 'X...O...X' }, ['7', '8']);
    expect(won.map(({ reward }) => reward)).toEqual([0, 1]);
    expect(won.at(-1)).toMatchObject({ verdict: { verdict: 'right', reason: 'won' }, done: true });
    // Every game ends in at most five moves, and is the same when it is played again.
    for (const moves of ['12345', '95173'].map((game) => [...game])) {
      const [once, again] = [await replies(tictactoe, {}, moves), await replies(tictactoe, {}, moves)];
      expect(once.replies).toEqual(again.replies);
      for (const { state } of once.replies) expect((state as { board: string }).board).toMatch(/^[.XO]{9}$/);
    }
  }, 60_000);

  const program = (text: string) => `Here:\n\`\`\`python\n${text}\n\`\`\``;
  const cases = (...pairs: readonly (readonly [string, string])[]) => ({
    inputs: pairs.map(([input]) => input),
    outputs: pairs.map(([, output]) => output),
  });

  test('hold a code agent: hidden cases judge, and the first public case that fails comes back, clipped', async (context) => {
    if (!hasSandbox) return context.skip('no sandbox runs here');
    const row = { public: cases(['1 2', '3'], ['2 2', '4']), hidden: cases(['17 25', '42'], ['-3 3', '0']) };
    const repair = join(EXAMPLES, 'code_repair.py');
    const answers = [
      'no program',
      program('print(3)'),
      program('a, b = map(int, input().split())\nprint(a + b if a > 0 else 1)'),
      program("print('x' * 100_000)"),
      program('raise ValueError(input())'),
      program("open('/etc/passwd').read()"),
      program('print(sum(map(int, input().split())))'),
    ];
    const { replies: said } = await replies(repair, row, answers);
    const told = said.map(({ messages }) => messages?.[0]?.content ?? '');
    expect(said.map(({ verdict }) => verdict?.verdict)).toEqual([...Array.from({ length: 6 }, () => 'wrong'), 'right']);
    expect(told[0]).toContain('fenced block');
    // The first public case passes; the second is shown.
    expect(told[1]).toContain('Input: 2 2\nExpected: 4\nPrinted: 3');
    expect(told[2]).toContain('another does not');
    expect(told[3]!.length).toBeLessThan(1000);
    expect(told[4]).toContain('ValueError: 1 2');
    expect(told[5]).toMatch(/No such file|denied/);
    // No hidden case is ever shown.
    expect(told.join()).not.toContain('17 25');
  }, 120_000);

  test('bring agents that have an end', async () => {
    const found: string[] = [];
    for (const name of ['tictactoe.ts', ...(hasSandbox ? ['code_repair.py'] : [])]) {
      const { agents } = await describeText(join(EXAMPLES, name));
      found.push(...agents.map((agent) => parseAgent(agent, name).name));
    }
    expect(found).toEqual(['tictactoe', ...(hasSandbox ? ['code-repair'] : [])]);
  });
});

async function everturn(...args: string[]) {
  const io = scriptedIo({ cwd: folder });
  let code: number | undefined;
  try {
    const program = await buildProgram(io, args, (ended) => (code = ended));
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    return { code: exitCodeOf(error), ...io.text, message: (error as Error).message };
  }
  return { code, ...io.text, message: '' };
}

describeUnless(NO_PYTHON)('everturn env', () => {
  test.each([['--python'], []])('new writes an environment that test finds nothing wrong with %s', async (...flags) => {
    const name = flags.length > 0 ? 'in-python' : 'in-typescript';
    expect(await everturn('env', 'new', name, ...flags)).toMatchObject({ code: 0 });
    const code = `./${name}.${flags.length > 0 ? 'py' : 'ts'}`;
    const tried = await everturn('env', 'test', code, `${name}.jsonl`, '--json');
    expect(tried).toMatchObject({ code: 0 });
    expect(JSON.parse(tried.out)).toMatchObject({ rows: 3, breaches: [], environment: { name } });
    expect(await everturn('env', 'new', name, ...flags)).toMatchObject({ code: 2 });
  });

  test('names, when it tests, the row, the turn and the field that breaks the contract, and a reply that is not repeated', async () => {
    writeFileSync(
      join(folder, 'odd.mjs'),
      `const loaded = Math.random();
      export default { name: 'odd', version: '1', respond: ({ episode }) =>
        episode.row.odd ? { reward: loaded, messages: [{ role: 'user', content: 'x' }] } : { succes: 1 } };`,
    );
    writeFileSync(join(folder, 'odd.jsonl'), '{"id":"a","question":"?","odd":true}\n{"id":"b","question":"?"}\n');
    const tried = await everturn('env', 'test', './odd.mjs', 'odd.jsonl');
    expect(tried.code).toBe(1);
    expect(tried.out).toContain('a: turn 1 gets another reply in another process: reward');
    expect(tried.out).toMatch(/b: The environment odd broke the contract in `respond`.*succes/);
  });
});

describeUnless(NO_PYTHON)('everturn judge --run --environment', () => {
  const out = join(folder, 'runs');
  const judge = (environment: string, name: string) =>
    everturn('judge', '--run', RUN, '--out', out, '--environment', environment, '--name', name, '--json');

  test('judges a run again with another judge, whose verdicts stand beside the old ones', async () => {
    const store = openFileStore(out, RUN);
    const query = aQuery('q0', { solutions: ['\\boxed{4}'] });
    await putRun(store, [query]);
    await play(store, { query, verdicts: ['wrong', 'right'] });
    const judged = await judge(join(EXAMPLES, 'closer.py'), 'x');
    expect(judged).toMatchObject({ code: 0 });
    expect(JSON.parse(judged.out)).toMatchObject({ turns: 2 });
    const rows = readFileSync(join(store.folder, 'judgements/x.jsonl'), 'utf8');
    expect(rows).toMatch(/"by":"closer 1 \(command, [0-9a-f]{12}\)"/);
    expect(rows).toContain('"reward":');
    const breaches: string[] = [];
    await checkRun(store, ({ path, problem }) => void breaches.push(`${path} ${problem}`));
    expect(breaches.filter((breach) => breach.startsWith('judgements'))).toEqual([]);
  });

  test('refuses an environment that keeps a state', async () => {
    const guess = `python3 ${join(import.meta.dirname, 'own/guess.py')} value`;
    const refused = await judge(guess, 'y');
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.message).toContain('has the state "value"');
  });
});
