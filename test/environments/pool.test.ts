// The pool of judging processes: what hangs or dies is undecided and takes nothing else with it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import {
  createMathJudge,
  type MathEnvironmentOptions,
  type MathJudge,
} from '../../environments/math/math-environment.ts';
import { compiledEnvironments } from '../support/compiled.ts';

const scripted = fileURLToPath(new URL('./scripted-child.mjs', import.meta.url));
const open: MathJudge[] = [];
afterEach(() => {
  for (const judge of open.splice(0)) judge.close();
});

function pool(options: MathEnvironmentOptions = {}): MathJudge {
  const judge = createMathJudge({ entry: scripted, children: 2, limitMs: 400, ...options });
  open.push(judge);
  return judge;
}

test('answers every call with its own verdict, in batches and alone', async () => {
  for (const batch of [1, 32]) {
    const judge = pool({ batch });
    const reasons = Array.from({ length: 300 }, (_, n) => `n-${n}`);
    const verdicts = await Promise.all(reasons.map((reason) => judge.judge(reason, [])));
    expect(verdicts.map((v) => v.reason)).toEqual(reasons);
  }
});

test('a hang is undecided by timeout and everything behind it is still answered', async () => {
  const judge = pool();
  const answers = Array.from({ length: 80 }, (_, n) => (n === 5 ? 'hang' : `n-${n}`));
  const verdicts = await Promise.all(answers.map((answer) => judge.judge(answer, [])));
  expect(verdicts[5]).toEqual({ verdict: 'undecided', reason: 'timeout' });
  expect(verdicts.filter((v) => v.reason === 'timeout')).toHaveLength(1);
  expect((await judge.judge('after', [])).reason).toBe('after');
});

test('more hangs than children end one by one, each undecided', async () => {
  const judge = pool({ children: 1, limitMs: 150 });
  const verdicts = await Promise.all(['hang', 'hang', 'a', 'hang', 'b'].map((answer) => judge.judge(answer, [])));
  expect(verdicts.map((v) => v.reason)).toEqual(['timeout', 'timeout', 'a', 'timeout', 'b']);
});

test('a job that kills its process twice is undecided and its neighbours are judged', async () => {
  const judge = pool();
  const answers = Array.from({ length: 40 }, (_, n) => (n === 7 ? 'die' : `n-${n}`));
  const verdicts = await Promise.all(answers.map((answer) => judge.judge(answer, [])));
  expect(verdicts[7]).toEqual({ verdict: 'undecided', reason: 'crashed' });
  expect(verdicts.filter((v) => v.verdict === 'right')).toHaveLength(39);
});

test('an aborted call rejects with its reason and the next is served', async () => {
  const judge = pool({ limitMs: 5_000 });
  const abort = new AbortController();
  const call = judge.judge('hang', [], undefined, abort.signal);
  abort.abort(new Error('cancelled'));
  await expect(call).rejects.toThrow('cancelled');
  expect((await judge.judge('next', [])).reason).toBe('next');
});

test('a child that cannot start is an error of the judge and not a verdict', async () => {
  const judge = pool({ entry: '/nowhere/child.js' });
  await expect(judge.judge('x', [])).rejects.toMatchObject({ name: 'JudgeError', reason: 'judge-process' });
});

test('closing ends every process and refuses what is open', async () => {
  const judge = pool({ limitMs: 60_000 });
  await judge.judge('warm', []);
  const { pids } = judge;
  const call = judge.judge('hang', []);
  judge.close();
  await expect(call).rejects.toMatchObject({ reason: 'judge-closed' });
  await expect.poll(() => pids.filter(alive)).toEqual([]);
});

test('the real child judges as the judge does, and dies with a parent that is killed while it works', async () => {
  const entry = `${compiledEnvironments()}/math/child.js`;
  const judge = createMathJudge({ entry, children: 1 });
  open.push(judge);
  expect(await judge.judge('\\boxed{0.5}', ['\\frac12'])).toMatchObject({ verdict: 'right', reason: 'equal' });

  // The parent is killed while the child's only thread of work is in an endless loop.
  const hang = `data:text/javascript,process.once('worker',(w)=>w.once('online',()=>setTimeout(()=>{for(;;);},100)))`;
  const args = JSON.stringify(['--import', hang, entry]);
  const parent = spawn(
    process.execPath,
    [
      '-e',
      `const c = require('child_process').spawn(process.execPath, ${args}, { stdio: ['pipe', 'pipe', 'ignore'] });
       c.stdout.once('data', () => setTimeout(() => console.log(c.pid), 1000));
       setInterval(() => {}, 1e6);`,
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(line.toString());
  expect(alive(pid)).toBe(true);
  parent.kill('SIGKILL');
  await expect.poll(() => alive(pid), { timeout: 20_000 }).toBe(false);
});

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
