// The command line with a home of its own, over a model that answers in so many milliseconds, for benchmarks of agents.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const TICKS = Number(execFileSync('getconf', ['CLK_TCK']));

export async function openAgentRig({ delayMs, rollouts }) {
  const folder = mkdtempSync(join(tmpdir(), 'everturn-bench-'));
  const env = { ...process.env, EVERTURN_HOME: join(folder, 'home') };
  const dataset = join(folder, 'tasks.jsonl');
  const row = (i) => `{"query_id":"q${i}","question":"6 times ${i}?","answer":"${6 * i}"}\n`;
  writeFileSync(dataset, Array.from({ length: rollouts }, (_, i) => row(i)).join(''));
  const ids = JSON.stringify([...Array.from({ length: 31 }, (_, i) => 100 + i), 2]);
  const model = spawn(process.execPath, [join(ROOT, 'test/bench/overhead-server.mjs'), ids], {
    env: { ...process.env, DELAY_MS: `${delayMs}` },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const url = String((await once(model.stdout, 'data'))[0]).trim();
  const command = (args) => [process.execPath, [join(ROOT, 'dist/cli/index.js'), ...args], { env, cwd: folder }];

  /** Pids of this home's processes whose command line has the word. */
  const pids = (word) =>
    readdirSync('/proc').filter((pid) => {
      try {
        const said = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return said.includes(word) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(env.EVERTURN_HOME);
      } catch {
        return false;
      }
    });
  /** Its supervisor names it, too, and is smaller. */
  const worker = () =>
    pids('dist/worker.js')
      .flatMap((pid) => {
        try {
          const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
          const isIt = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[1]?.endsWith('dist/worker.js');
          return kib === undefined || !isIt ? [] : [{ pid: Number(pid), mib: Math.round(Number(kib) / 1024) }];
        } catch {
          return [];
        }
      })
      .toSorted((a, b) => b.mib - a.mib)[0];
  const secondsOf = (pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS;
  };
  const sum = (word) => pids(word).reduce((seconds, pid) => seconds + secondsOf(pid), 0);
  const options = ['--model', `sglang:${url}`, '--tokenizer', join(ROOT, 'models/tiny'), '--max-new-tokens', '32'];

  return {
    folder,
    home: env.EVERTURN_HOME,
    /** Resolves when the run has ended. */
    async run(name, agent, ...more) {
      const args = [
        'run',
        dataset,
        '--agent',
        agent,
        ...options,
        '--name',
        name,
        '--max-concurrent',
        `${rollouts}`,
        ...more,
      ];
      const [file, all, where] = command([...args, '--logs', 'none']);
      const [code] = await once(spawn(file, all, { ...where, stdio: ['ignore', 'ignore', 'inherit'] }), 'exit');
      if (code !== 0) throw new Error(`everturn run ended with ${code}`);
    },
    /** Processor seconds so far, user and system. */
    cpu: () => ({ worker: sum('dist/worker.js'), temporal: sum('temporal.db') }),
    /** MiB of the worker; 0 while there is none. */
    memory: () => worker()?.mib ?? 0,
    /** Whether there was one. */
    killWorker() {
      const { pid } = worker() ?? {};
      return pid !== undefined && process.kill(pid, 'SIGKILL');
    },
    /** What `check` says of a run, and its size. */
    seen(name) {
      const [file, all, where] = command(['check', name]);
      const { stdout, stderr } = spawnSync(file, all, { ...where, encoding: 'utf8' });
      return `${stdout}${stderr}${execFileSync('du', ['-sm', join(folder, 'runs', name)], { encoding: 'utf8' })}`;
    },
    close() {
      execFileSync(...command(['down']));
      model.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
