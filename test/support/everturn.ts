// The built command line as a user runs it, in a home and a folder of its own; the same within this process, where what
// is asked does not depend on a process; and the pids of the service behind it, for tests that kill them.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { main } from '../../cli/main.ts';
import { homeAt } from '../../local/service/home.ts';
import { stopService } from '../../local/service/service.ts';
import { liveState, type ServiceState } from '../../local/service/state.ts';
import { scriptedIo } from '../cli/scripted-io.ts';
import { useEnvironment } from './process-environment.ts';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** stderr and stdout so far. */
  output(): string;
}

export interface Everturn {
  /** Working folder; runs are in `runs/` below it. */
  readonly folder: string;
  start(...args: string[]): Running;
  /** The same of another installation. */
  startFrom(installation: string, ...args: string[]): Running;
  /** Starts a script with Node, in the same environment. */
  startProgram(script: string, ...args: string[]): Running;
  /** Runs one command to its end, in a process of its own. */
  run(...args: string[]): Promise<Ended>;
  /** The same from source in this very process, without a second's start: for commands that only ask, or are refused. */
  call(...args: string[]): Promise<Ended>;
  /** `run` of a command that has to do as it is asked. */
  mustRun(...args: string[]): Promise<Ended>;
  /** `call` of such a command: what it prints on stdout. */
  mustCall(...args: string[]): Promise<string>;
  /** Writes a text, or rows as JSON lines, into the folder. */
  write(name: string, content: string | readonly object[]): void;
  service(): ServiceState | undefined;
  close(): Promise<void>;
}

const INSTALLATION = join(import.meta.dirname, '../..');

/**
 * The same with a local service that all files of a test run share, each by names of runs that no other has: a start and
 * an end take five seconds of a processor. For tests that neither end nor configure it.
 */
export const openSharedEverturn = () => openEverturn({}, inject('sharedHome'));

export function openEverturn(env: Readonly<Record<string, string>> = {}, sharedHome?: string): Everturn {
  const folder = mkdtempSync(join(tmpdir(), 'everturn-e2e-'));
  const home = sharedHome ?? join(folder, 'home');
  const own = Object.entries(process.env).filter(([name]) => !/^(TEMPORAL|EVERTURN|VITEST|NODE_)/.test(name));
  const environment = {
    ...Object.fromEntries(own),
    EVERTURN_HOME: home,
    EVERTURN_TEMPORAL_CLI: inject('temporalBinary'),
    EVERTURN_IDLE_MINUTES: '5',
    EVERTURN_UI: 'on',
    NO_COLOR: '1',
    ...env,
  };
  const startProgram = (script: string, ...args: string[]): Running => {
    const child = spawn(process.execPath, [script, ...args], {
      cwd: folder,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const ended = new Promise<Ended>((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
    });
    return { child, ended, output: () => stderr + stdout };
  };
  const startFrom = (installation: string, ...args: string[]) =>
    startProgram(join(installation, 'dist/cli/index.js'), ...args);
  const start = (...args: string[]) => startFrom(INSTALLATION, ...args);
  // Commands that are called at once share it.
  let calls = 0;
  let restore = () => {};
  async function call(...args: string[]): Promise<Ended> {
    if (calls++ === 0) restore = useEnvironment(env);
    const io = { ...scriptedIo({ env: environment, cwd: folder }), now: Date.now };
    const code = await main(io, args).finally(() => --calls === 0 && restore());
    return { code, signal: null, stdout: io.text.out, stderr: io.text.err };
  }
  return {
    folder,
    start,
    startFrom,
    startProgram,
    run: (...args) => start(...args).ended,
    call,
    async mustRun(...args) {
      const ended = await start(...args).ended;
      expect(ended.code, ended.stdout + ended.stderr).toBe(0);
      return ended;
    },
    async mustCall(...args) {
      const { code, stdout, stderr } = await call(...args);
      expect(code, stdout + stderr).toBe(0);
      return stdout;
    },
    write(name, content) {
      const text = typeof content === 'string' ? content : content.map((row) => JSON.stringify(row)).join('\n');
      writeFileSync(join(folder, name), text);
    },
    service: () => liveState(homeAt(home)),
    async close() {
      if (sharedHome === undefined) await stopService(environment);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
