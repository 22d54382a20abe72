// The sandbox against programs that try to leave it, with the real bubblewrap.

import { spawn } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findBubblewrap } from '../bubblewrap.ts';
import { proveSandbox } from '../canary.ts';
import { DEFAULT_LIMITS } from '../sandbox.ts';
import { python } from '../language.ts';
import { runSandboxed } from '../sandboxed.ts';
import { compiledRoom } from '../../../test/support/compiled.ts';
import { ATTACKS } from './programs.ts';
import { createRig, hasSandbox, needsSandbox, type Rig } from './rig.ts';
import { pidsWith, procFile } from '../../../test/support/processes.ts';
import { until } from '../../../test/support/until.ts';

needsSandbox();

let rig: Rig;
beforeAll(async () => {
  if (hasSandbox) rig = await createRig();
});
afterAll(() => rig?.close());

describe.concurrent('leaves nothing outside, and nothing behind', () => {
  test.each(ATTACKS)('$name', async ({ program }) => {
    const { ran, left } = await rig.attack(program);
    expect(ran.output.toString('latin1')).not.toContain('ESCAPED');
    expect(left).toEqual([]);
    expect(rig.connections()).toBe(0);
  });
});

describe('the sandbox', () => {
  test('the canary is the proof that every worker asks for', async () => {
    expect(await proveSandbox()).toMatchObject({ ok: true, sandbox: { name: 'bubblewrap', countsFiles: false } });
  });

  test('where the kernel cannot bound how many files there are, they are counted from outside', async () => {
    const found = await findBubblewrap();
    const counted = found.ok ? found.sandboxes.at(-1)! : expect.fail(found.why);
    expect(counted.countsFiles).toBe(true);
    const runtime = (await python.findRuntime(process.env))!;
    const program = `import time
for n in range(2000): open('/tmp/%d' % n, 'w').close()
time.sleep(60)`;
    const ran = await runSandboxed(
      counted.launch(runtime.command, runtime.folders, DEFAULT_LIMITS),
      python.encode({ kind: 'stdin', program, stdin: '' }, 'nonce'),
      DEFAULT_LIMITS,
      new AbortController().signal,
    );
    expect(ran).toMatchObject({ ending: 'file-limit' });
  });

  test('a program that is killed from outside was not wrong', async () => {
    const mark = `killed-${process.pid}`;
    const running = rig.run('import time\ntime.sleep(600)', { mark, limits: { ...DEFAULT_LIMITS, wallMs: 600_000 } });
    await until('the program runs', () => pidsWith(mark).length >= 2);
    const sandbox = await until('its sandbox', () => pidsWith(mark).find(isBwrap));
    process.kill(sandbox, 'SIGKILL');
    await expect(running).rejects.toMatchObject({ name: 'SandboxTrouble' });
    await until('nothing is left', () => pidsWith(mark).length === 0);
  });

  test('that is killed while it sets up is an error at once, though what it began holds the streams', async () => {
    const mark = `left-${process.pid}`;
    const launch = { file: 'sh', args: ['-c', `sh -c 'sleep 600; :' ${mark} & kill -9 $$`] };
    const running = runSandboxed(launch, Buffer.from('job\n'), DEFAULT_LIMITS, new AbortController().signal);
    await expect(running).rejects.toMatchObject({ name: 'SandboxTrouble' });
    await until('nothing is left', () => pidsWith(mark).length === 0);
  });

  test('cancelling ends the program at once, and nothing is left', async () => {
    const controller = new AbortController();
    const mark = `cancelled-${process.pid}`;
    const running = rig.run('import time\ntime.sleep(60)', { mark, signal: controller.signal });
    await until('the program runs', () => pidsWith(mark).length >= 2);
    controller.abort(new Error('cancelled'));
    await expect(running).rejects.toThrow('cancelled');
    expect(pidsWith(mark)).toEqual([]);
  });

  test('a worker that dies by kill -9 takes its programs with it', async () => {
    const folder = compiledRoom('packages/sandbox');
    const mark = `orphan-${process.pid}`;
    const script = `
    const { proveSandbox } = await import(${JSON.stringify(`${folder}/canary.js`)});
    const { runSandboxed } = await import(${JSON.stringify(`${folder}/sandboxed.js`)});
    const { python } = await import(${JSON.stringify(`${folder}/language.js`)});
    const { DEFAULT_LIMITS } = await import(${JSON.stringify(`${folder}/sandbox.js`)});
    const { sandbox } = await proveSandbox();
    const runtime = await python.findRuntime(process.env);
    const job = python.encode({ kind: 'stdin', program: 'import time, ctypes\\nlibc = ctypes.CDLL(None)\\nlibc.prctl(1, 0)\\nlibc.prctl(15, b"begun")\\ntime.sleep(60)', stdin: '' }, 'n');
    for (let i = 0; i < 3; i++)
      runSandboxed(sandbox.launch([...runtime.command, ${JSON.stringify(mark)}], [], DEFAULT_LIMITS), job, DEFAULT_LIMITS, new AbortController().signal);
  `;
    const worker = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
    try {
      const running = () => pidsWith(mark).filter((pid) => pid !== worker.pid);
      await until('three programs that have begun', () => running().filter(hasBegun).length >= 3);
      worker.kill('SIGKILL');
      await until('nothing is left', () => running().length === 0);
    } finally {
      worker.kill('SIGKILL');
    }
  });
});

/** The program says so by the name of its process. */
const hasBegun = (pid: number): boolean => procFile(pid, 'comm') === 'begun\n';

function isBwrap(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`).endsWith('bwrap');
  } catch {
    return false;
  }
}
