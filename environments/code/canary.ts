// Finds a sandbox and proves it: a canary that attempts every known escape runs in it before any other program. A sandbox
// that cannot be proved is not used. `why` and `fix` are shown to the user. Not covered: kernel exploits.

import { mkdtemp, rm, writeFile, chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { explain } from '../../domain/errors/errors.ts';
import { findBubblewrap, type Missing } from './bubblewrap.ts';
import { CANARY_PROGRAM } from './canary-program.ts';
import { readReport, type Runtime } from './language.ts';
import { python } from './python.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import type { Sandbox } from './sandbox.ts';
import { runSandboxed } from './sandboxed.ts';

export type Proof = { readonly ok: true; readonly sandbox: Sandbox; readonly runtime: string } | Missing;

const MIB = 1024 * 1024;
const LIMITS = { ...DEFAULT_LIMITS, wallMs: 20_000, memoryBytes: 128 * MIB, diskBytes: 2 * MIB, files: 100 };
const NONCE = 'canary';

export async function proveSandbox(
  options: { readonly env?: NodeJS.ProcessEnv; readonly signal?: AbortSignal } = {},
): Promise<Proof> {
  const env = options.env ?? process.env;
  const found = await findBubblewrap(env);
  if (!found.ok) return found;
  const runtime = await python.findRuntime(env);
  if (!runtime) return { ok: false, why: 'there is no Python 3', fix: 'Install python3.' };
  let missing: Missing | undefined;
  for (const sandbox of found.sandboxes) {
    const proof = await prove(sandbox, runtime, options.signal ?? new AbortController().signal);
    if (proof.ok) return proof;
    missing = proof;
  }
  return missing ?? { ok: false, why: 'there is no sandbox to try', fix: 'Report this.' };
}

async function prove(sandbox: Sandbox, runtime: Runtime, signal: AbortSignal): Promise<Proof> {
  const folder = await mkdtemp(join(tmpdir(), 'everturn-canary-'));
  try {
    const file = join(folder, 'canary');
    await chmod(folder, 0o755);
    await writeFile(file, 'host', { mode: 0o644 });
    const files = sandbox.countsFiles ? null : LIMITS.files;
    const job = python.encode(
      {
        kind: 'call',
        program: CANARY_PROGRAM,
        name: 'probe',
        args: JSON.stringify([file, LIMITS.memoryBytes, LIMITS.diskBytes, files]),
      },
      NONCE,
    );
    const launch = sandbox.launch(runtime.command, runtime.folders, LIMITS);
    const { exitCode, output, errors } = await runSandboxed(launch, job, LIMITS, signal);
    const report = readReport(output.toString('utf8'), NONCE);
    if (report?.kind !== 'value')
      return { ok: false, why: `the canary ended with ${exitCode}: ${errors.slice(-300).trim()}`, fix: 'Report this.' };
    const ways = JSON.parse(report.json) as string[];
    if (ways.length > 0)
      return { ok: false, why: `a program in it can ${ways.join(', ')}`, fix: 'Update the kernel and bubblewrap.' };
    return { ok: true, sandbox, runtime: runtime.version };
  } catch (error) {
    signal.throwIfAborted();
    const why = explain(error);
    return { ok: false, why, fix: fixOf(why) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function fixOf(why: string): string {
  if (/namespace|uid map|Operation not permitted|Permission denied|EPERM|EACCES/i.test(why))
    return (
      'This machine forbids user namespaces. Ubuntu: give bwrap an AppArmor profile with `userns`. ' +
      'Docker: `--security-opt seccomp=unconfined --security-opt apparmor=unconfined`. See docs/sandbox.md.'
    );
  return 'Run the command that failed by hand; docs/sandbox.md says what it needs.';
}
