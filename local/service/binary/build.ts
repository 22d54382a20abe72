// Builds the Temporal CLI from Go modules: the committed go.mod and go.sum pin every byte. About three minutes on two
// cores, once. The binary appears in the cache by rename: complete or not at all, also after a kill. Uses the user's own
// Go caches, so an interrupted build resumes.

import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '../../machine/user-folders.ts';
import { packageRoot } from '../../machine/package-root.ts';
import { spawnGuarded } from '../../machine/guarded.ts';
import type { BuildProgress, OnProgress } from '../../machine/progress.ts';
import { probe, TEMPORAL_CLI_VERSION, type TemporalBinary } from './temporal-version.ts';

export const GO_NEEDED = '1.26.4';
const PACKAGE = 'github.com/temporalio/cli/cmd/temporal';
const LDFLAGS = `-s -w -X github.com/temporalio/cli/internal/temporalcli.Version=${TEMPORAL_CLI_VERSION}`;
/** Progress is reported at least this often while the compiler is silent. */
const TICK_MS = 1_000;

interface BuildOptions {
  /** Receives `temporal`; the caller holds its lock. */
  readonly folder: string;
  readonly env: Environment;
  readonly onProgress?: OnProgress;
}

export async function buildTemporal(options: BuildOptions): Promise<TemporalBinary | { readonly problem: string }> {
  const go = await goVersion(options.env);
  if ('problem' in go) return go;
  options.onProgress?.({
    kind: 'step',
    text: `Building the Temporal server ${TEMPORAL_CLI_VERSION} from Go modules, once: 3 to 7 minutes on two cores, and up to 4 GB in Go's caches, which \`go clean -cache -modcache\` clears.`,
  });
  const workFolder = freshWorkFolder(options.folder);
  try {
    const out = join(workFolder, 'temporal');
    const run = goRunner(workFolder, options);
    const listed = await run('modules', ['list', '-deps', PACKAGE]);
    if ('problem' in listed) return listed;
    const flags = ['-v', '-trimpath', '-ldflags', LDFLAGS, '-o', out];
    const built = await run('compiling', ['build', ...flags, PACKAGE], listed.lines);
    if ('problem' in built) return built;
    const proof = await probe(out);
    if ('problem' in proof) return proof;
    const path = join(options.folder, 'temporal');
    renameSync(out, path);
    return { path, version: proof.version };
  } finally {
    rmSync(workFolder, { recursive: true, force: true });
  }
}

/** Removes the leftovers of a killed build: the caller's lock guarantees that nobody works in the folder. */
function freshWorkFolder(folder: string): string {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder))
    if (name.startsWith('build-')) rmSync(join(folder, name), { recursive: true, force: true });
  const workFolder = mkdtempSync(join(folder, 'build-'));
  const source = join(packageRoot(), 'local', 'service', 'temporal-cli');
  for (const name of ['go.mod', 'go.sum']) copyFileSync(join(source, name), join(workFolder, name));
  mkdirSync(join(workFolder, 'tmp'));
  return workFolder;
}

function goRunner(workFolder: string, options: BuildOptions) {
  const startedAtMs = Date.now();
  // The user's own Go settings must not affect this build.
  const { GOOS: _os, GOARCH: _arch, GOEXPERIMENT: _experiment, ...rest } = options.env;
  const env = {
    ...rest,
    CGO_ENABLED: '0',
    GO111MODULE: 'on',
    GOFLAGS: '',
    GOWORK: 'off',
    GOTOOLCHAIN: 'auto',
    GOTMPDIR: join(workFolder, 'tmp'),
  };

  return async function run(
    phase: 'modules' | 'compiling',
    args: readonly string[],
    total?: number,
  ): Promise<{ readonly lines: number } | { readonly problem: string }> {
    const phaseAtMs = Date.now();
    const errors: string[] = [];
    const read: Promise<unknown>[] = [];
    let lines = 0;
    let done = 0;
    const tell = (): void => options.onProgress?.(progressOf(phase, done, total, startedAtMs, phaseAtMs));
    const go = await spawnGuarded('go', args, {
      stdout: 'pipe',
      stderr: 'pipe',
      cwd: workFolder,
      env,
      onOutput: (stream, name) => {
        const reader = createInterface({ input: stream }).on('line', (line) => {
          if (name === 'stdout') lines++;
          else if (line.startsWith('go: downloading') || /^[\w.-]+(\/[\w.~-]+)*$/.test(line)) done++;
          else errors.push(line);
        });
        read.push(once(reader, 'close'));
      },
    });
    tell();
    const ticker = setInterval(tell, TICK_MS);
    const how = await go.exited.finally(() => clearInterval(ticker));
    // Its last output is still coming; a grandchild that holds the pipe open must not block us.
    await Promise.race([Promise.all(read), sleep(1_000)]);
    tell();
    if (how === 'ended with exit code 0') return { lines };
    const last = errors.slice(-5).join(' | ').slice(-800);
    return { problem: `go ${args[0]} ${how}${last ? `: ${last}` : ''}` };
  };
}

function progressOf(
  phase: 'modules' | 'compiling',
  done: number,
  total: number | undefined,
  startedAtMs: number,
  phaseAtMs: number,
): BuildProgress {
  const now = Date.now();
  const base = { kind: 'build', elapsedMs: now - startedAtMs, done } as const;
  if (total === undefined || phase === 'modules') return { ...base, phase };
  // The package itself is compiled last; after that only the linker runs.
  if (done >= total) return { ...base, phase: 'linking', total };
  if (done < total / 20) return { ...base, phase, total };
  return { ...base, phase, total, remainingMs: ((now - phaseAtMs) / done) * (total - done) };
}

/** Go's version, or why it cannot build the server. */
export function goVersion(env: Environment): Promise<{ readonly version: string } | { readonly problem: string }> {
  return new Promise((resolve) => {
    execFile('go', ['env', 'GOVERSION'], { env: { ...env }, timeout: 20_000, encoding: 'utf8' }, (error, stdout) => {
      if (error?.code === 'ENOENT') return resolve({ problem: 'Go is not installed (no `go` on PATH)' });
      const version = /^go(\d+)\.(\d+)\S*/.exec(stdout.trim());
      if (error || !version)
        return resolve({ problem: `\`go env GOVERSION\` did not answer: ${error?.message ?? stdout}` });
      const [text, major, minor] = version;
      // Go 1.21 and later fetch the toolchain that go.mod names; earlier versions cannot even parse the line.
      if (Number(major) === 1 && Number(minor) < 21)
        return resolve({ problem: `${text} is too old: ${GO_NEEDED} is needed, or 1.21 and later, which fetch it` });
      resolve({ version: text });
    });
  });
}
