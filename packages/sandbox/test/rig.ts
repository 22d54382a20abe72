// A real sandbox to run attacks in, and what must still be true of the host afterwards.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach } from 'vitest';
import { proveSandbox } from '../canary.ts';
import { python } from '../language.ts';
import { type CodeLimits, DEFAULT_LIMITS } from '../sandbox.ts';
import { type Ran, runSandboxed } from '../sandboxed.ts';
import { pidsWith } from '../../../test/support/processes.ts';
import { ATTACK_PRELUDE } from './programs.ts';

export const ATTACK_LIMITS: CodeLimits = { ...DEFAULT_LIMITS, wallMs: 1500, cpuSeconds: 1 };

export interface Rig {
  /** `mark`: a word in the command line of every process of this run. */
  run(program: string, more?: { limits?: CodeLimits; signal?: AbortSignal; mark?: string }): Promise<Ran>;
  /** What it printed, and which of its processes are still there. */
  attack(program: string): Promise<{ readonly ran: Ran; readonly left: readonly number[] }>;
  /** Connections that the host's server has seen. */
  connections(): number;
  close(): void;
}

const found = await proveSandbox();
export const hasSandbox = found.ok;

/** The tests of this file are left out where there is no sandbox, and say so. */
export function needsSandbox(): void {
  beforeEach(({ skip }) => skip(!found.ok, found.ok ? '' : `no sandbox: ${found.why}`));
}

export async function createRig(): Promise<Rig> {
  if (!found.ok) throw new Error(found.why);
  const { sandbox } = found;
  const runtime = (await python.findRuntime(process.env))!;
  const mark = () => `rig-${process.pid}-${Math.random().toString(36).slice(2)}`;
  const folder = mkdtempSync(join(tmpdir(), 'everturn-rig-'));
  const file = join(folder, 'secret');
  writeFileSync(file, 'secret', { mode: 0o644 });
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const host = { file, cwd: process.cwd(), port: typeof address === 'object' ? address?.port : 0 };

  const run: Rig['run'] = (program, more = {}) => {
    const limits = more.limits ?? ATTACK_LIMITS;
    return runSandboxed(
      sandbox.launch([...runtime.command, more.mark ?? mark()], runtime.folders, limits),
      python.encode({ kind: 'stdin', program, stdin: '' }, 'nonce'),
      limits,
      more.signal ?? new AbortController().signal,
    );
  };
  return {
    run,
    async attack(program) {
      const own = mark();
      const ran = await run(`${ATTACK_PRELUDE}HOST = ${JSON.stringify(host)}\n${program}`, { mark: own });
      return { ran, left: pidsWith(own) };
    },
    connections: () => connections,
    close() {
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
