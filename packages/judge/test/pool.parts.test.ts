// The pool of judging processes: guilt is found by judging alone, and what is neither the answer's nor the solution's
// doing, as kills from outside, never becomes a verdict.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { createJudge, type Judge, type ProcessOptions } from '../pool/create-judge.ts';
import { JudgeError } from '../pool/judge-error.ts';
import { judge as judgeHere } from '../judge.ts';
import { compiledRoom } from '../../../test/support/compiled.ts';
import { isPidAlive } from '../../../test/support/processes.ts';
import { pick, randomSource } from '../../../test/support/texts.ts';
import { pairsIn } from './labelled-pairs.ts';

/** 1,000 with EVERTURN_FUZZ=all. */
const KILLS = process.env['EVERTURN_FUZZ'] === 'all' ? 1_000 : 8;

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const scripted = here('./scripted-child.mjs');
const realChild = (): string => `${compiledRoom('packages/judge')}/pool/child.js`;
const open: Judge[] = [];
afterEach(() => {
  for (const judge of open.splice(0)) judge.close();
});

function pool(options: ProcessOptions = {}): Judge {
  const judge = createJudge({ entry: scripted, children: 2, limitMs: 20_000, ...options });
  open.push(judge);
  return judge;
}

const numbered = (count: number, others: Readonly<Record<number, string>>): string[] =>
  Array.from({ length: count }, (_, n) => others[n] ?? `n-${n}`);
const all = (judge: Judge, answers: readonly string[]) =>
  Promise.all(answers.map((answer) => judge.judge(answer, ['5'])));

/** A process may be killed over one answer several times by chance. */
async function patiently<T>(judged: () => Promise<T>): Promise<T> {
  for (let n = 1; ; n++) {
    try {
      return await judged();
    } catch (error) {
      if (!(error instanceof JudgeError && error.retryable) || n >= 3) throw error;
    }
  }
}

describe('judging in processes', () => {
  test('answers every call with its own verdict', async () => {
    const answers = numbered(300, {});
    expect((await all(pool(), answers)).map((v) => v.reason)).toEqual(answers);
  });

  test('an answer that kills its process twice, alone, is wrong, and its neighbours are judged', async () => {
    const verdicts = await all(pool(), numbered(80, { 7: 'die', 40: 'die', 41: 'die' }));
    for (const n of [7, 40, 41]) expect(verdicts[n]).toEqual({ verdict: 'wrong', reason: 'too-big' });
    expect(verdicts.filter((v) => v.verdict === 'right')).toHaveLength(77);
  });

  test('a solution that kills its process without any answer is undecided, and the data set’s fault', async () => {
    const judge = pool();
    expect(await judge.judge('1', ['die'])).toEqual({ verdict: 'undecided', reason: 'solution-unreadable' });
    expect(await judge.judge('die', ['unread'])).toEqual({ verdict: 'undecided', reason: 'solution-unreadable' });
    expect(await judge.examine(['5', 'die', 'unread'])).toEqual([
      { usable: true },
      { usable: false, reason: 'too-big' },
      { usable: false, reason: 'unread' },
    ]);
  });

  test('of several solutions one that kills does not take the others along', async () => {
    expect(await pool().judge('1', ['die', '5'])).toEqual({ verdict: 'right', reason: '1' });
  });

  test('a bug of the judge is our error, and no verdict', async () => {
    await expect(pool().judge('fault', ['5'])).rejects.toMatchObject({ reason: 'judge-process', retryable: false });
  });

  test('a caller’s mistake is told at once, and reaches no process', async () => {
    const judge = pool();
    await expect(judge.judge('1', ['5'], { decimals: 1.5 })).rejects.toThrow(RangeError);
    await expect(judge.judge('1', [42 as never])).rejects.toThrow(TypeError);
    expect(judge.pids).toEqual([]);
  });

  test('a process that is killed from outside over one answer is our error, which can be tried again', async () => {
    await expect(pool().judge('killed', ['5'])).rejects.toMatchObject({ reason: 'judge-killed', retryable: true });
  });

  test('a process that stands still is our error, and everything behind it is still answered', async () => {
    const judge = pool({ limitMs: 2_000 });
    const results = await Promise.allSettled(numbered(80, { 5: 'hang' }).map((answer) => judge.judge(answer, ['5'])));
    expect(results[5]).toMatchObject({ reason: { reason: 'judge-stalled', retryable: true } });
    expect(results.filter((r) => r.status === 'fulfilled')).toHaveLength(79);
    expect((await judge.judge('after', [])).reason).toBe('after');
  });

  test('an aborted call rejects with its reason and the next is served', async () => {
    const judge = pool();
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
    const judge = pool();
    await judge.judge('warm', []);
    const { pids } = judge;
    const call = judge.judge('hang', []);
    judge.close();
    await expect(call).rejects.toMatchObject({ reason: 'judge-closed' });
    await expect.poll(() => pids.filter(isPidAlive)).toEqual([]);
  });
});

describe('the real child', () => {
  test('finds whoever hangs, overflows or fills the heap, and judges their neighbours as ever', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'everturn-child-'));
    const entry = join(folder, 'child.mjs');
    const imports = [here('./failing-child.mjs'), realChild()].map((path) => `import '${pathToFileURL(path).href}';`);
    writeFileSync(entry, imports.join('\n'));
    try {
      // The wall clock's limit is far: processor time alone ends a hang.
      const judge = pool({ entry, cpuLimitMs: 300, limitMs: 60_000 });
      const bad = { 3: 'HANG', 20: 'HEAP', 21: 'STACK', 50: 'ABORT' };
      const verdicts = await all(
        judge,
        numbered(64, bad).map((answer) => answer.replace('n-', 'It is ')),
      );
      for (const n of Object.keys(bad).map(Number))
        expect(verdicts[n], String(n)).toEqual({ verdict: 'wrong', reason: 'too-big' });
      const others = verdicts.filter((_, n) => !(n in bad));
      expect(others.filter((v) => v.verdict === 'right')).toEqual([
        { verdict: 'right', reason: 'equal', extracted: 'It is 5' },
      ]);
      expect(new Set(others.map((v) => v.reason))).toEqual(new Set(['different', 'equal']));
      expect(await judge.judge('5', ['STACK'])).toEqual({ verdict: 'undecided', reason: 'solution-unreadable' });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('gives every answer the verdict and reason that the judge gives, whichever process is killed', async () => {
    const asked = pairsIn('generated.jsonl');
    const undisturbed = asked.map(({ answer, solutions }) => judgeHere(answer, solutions));
    const judge = pool({ entry: realChild(), children: 2, limitMs: 60_000 });
    const random = randomSource(7);
    let [kills, answered] = [0, 0];
    /** By answers, and not by the clock: on a slow machine each kill would meet a process that still starts. */
    const sometimesKill = () => {
      if (++answered % 35 !== 0 || judge.pids.length === 0) return;
      try {
        process.kill(pick(random, judge.pids), pick(random, ['SIGKILL', 'SIGTERM']));
        kills++;
      } catch {
        // It has just ended.
      }
    };
    for (let at = 0; kills < KILLS; at = (at + 48) % asked.length) {
      // A few at a time, as rollouts come: what runs meanwhile is hit at any place.
      const verdicts = asked.slice(at, at + 48).map(async ({ answer, solutions }) => {
        const verdict = await patiently(() => judge.judge(answer, solutions));
        sometimesKill();
        return verdict;
      });
      expect(await Promise.all(verdicts)).toEqual(undisturbed.slice(at, at + 48));
    }
    expect(await judge.examine(['\\frac12'])).toEqual([{ usable: true }]);
  }, 600_000);

  test('dies with a parent that is killed while it works', async () => {
    // The parent is killed while the child's only thread of work is in an endless loop.
    const hang = `data:text/javascript,process.once('worker',(w)=>w.once('online',()=>setTimeout(()=>{for(;;);},100)))`;
    const args = JSON.stringify(['--import', hang, realChild()]);
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
    expect(isPidAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    await expect.poll(() => isPidAlive(pid)).toBe(false);
  });
});
