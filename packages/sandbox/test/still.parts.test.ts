// The process that starts sandboxes is stopped by a real SIGSTOP: that is no time of the program's. One that never goes on
// is replaced. So is time in which the program itself is stopped, which it cannot do.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { proveSandbox } from '../canary.ts';
import { DEFAULT_LIMITS } from '../sandbox.ts';
import { python } from '../language.ts';
import { createRunner, type Runner } from '../runner.ts';
import { compiledRoom } from '../../../test/support/compiled.ts';
import { until } from '../../../test/support/until.ts';
import { parentOf, pidsWith, procFile } from '../../../test/support/processes.ts';
import { needsSandbox } from './rig.ts';

needsSandbox();

const WALL_MS = 6_000;
const open: Runner[] = [];
afterEach(async () => {
  for (const runner of open.splice(0)) await runner.close();
});

async function opened(longestMs?: () => number) {
  const proof = await proveSandbox();
  const sandbox = proof.ok ? proof.sandbox : expect.fail(proof.why);
  const runtime = (await python.findRuntime(process.env))!;
  const limits = { ...DEFAULT_LIMITS, wallMs: WALL_MS };
  const runner = createRunner(`${compiledRoom('packages/sandbox')}/runner-child.js`, longestMs);
  open.push(runner);
  return async (source: string, word: string) => {
    const launch = sandbox.launch([...runtime.command, word], runtime.folders, limits);
    const job = python.encode({ kind: 'stdin', program: source, stdin: '' }, 'nonce');
    const [ran] = await runner.run([{ launch, job, limits }], new AbortController().signal);
    return ran!;
  };
}

async function begun(program: string, mark: string, longestMs?: () => number) {
  const run = await opened(longestMs);
  const running = run(`import ctypes\nctypes.CDLL(None).prctl(15, b"begun")\n${program}`, mark);
  running.catch(() => undefined);
  const pid = await until('the program has begun', () =>
    pidsWith(mark).find((one) => procFile(one, 'comm') === 'begun\n'),
  );
  return { run, running, pid, runner: runnerPid() };
}

/** The small process of this one. */
function runnerPid(): number {
  const own = pidsWith('runner-child.js').find((pid) => parentOf(pid) === process.pid);
  return own ?? expect.fail('no process that starts sandboxes');
}
const mark = () => `still-${process.pid}-${Math.random().toString(36).slice(2)}`;
/** Longer than the program's time. */
const longStop = () => sleep(2 * WALL_MS);

describe('a process that starts sandboxes and is stopped', () => {
  test('costs a program that ends meanwhile nothing: it has ended by itself, in its time', async () => {
    const { running, runner } = await begun('import time\ntime.sleep(3)\nprint("done")', mark());
    process.kill(runner, 'SIGSTOP');
    await longStop();
    process.kill(runner, 'SIGCONT');
    const { ending, exitCode, output, ranMs } = await running;
    expect([ending, exitCode, output.toString()]).toEqual(['exited', 0, 'done\n']);
    expect(ranMs).toBeLessThan(WALL_MS);
  });

  test('and never goes on is replaced: its run failed by the machine, and nothing of it is left', async () => {
    const word = mark();
    const { run, running, runner } = await begun('import time\nwhile True: time.sleep(1)', word, () => 6_000);
    process.kill(runner, 'SIGSTOP');
    await expect(running).rejects.toMatchObject({ name: 'SandboxTrouble' });
    await until('nothing is left', () => pidsWith(word).length === 0);
    expect((await run('print(1)', mark())).output.toString()).toBe('1\n');
  });
});

describe('a program', () => {
  test('that is stopped from outside has the rest of its time when it goes on', async () => {
    const { running, pid } = await begun('import time\nfor _ in range(60): time.sleep(0.05)\nprint("done")', mark());
    process.kill(pid, 'SIGSTOP');
    await longStop();
    process.kill(pid, 'SIGCONT');
    const { ending, output } = await running;
    expect([ending, output.toString()]).toEqual(['exited', 'done\n']);
  });

  test('cannot stop itself', async () => {
    const stops = 'for one in (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN): os.kill(os.getpid(), one)';
    const run = await opened();
    const { ending, output } = await run(`import os, signal\n${stops}\nprint("went on")`, mark());
    expect([ending, output.toString()]).toEqual(['exited', 'went on\n']);
  });
});
