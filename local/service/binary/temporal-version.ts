// The Temporal CLI versions that we pin and accept, and the test that a file is one: it answers `--version`.

import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';

/** The version that go.mod pins and the download asks for. */
export const TEMPORAL_CLI_VERSION = '1.8.2';
/** Server 1.28: Updates, user metadata and the flags that `dev-server.ts` passes. */
const OLDEST_ACCEPTED = '1.4.0';
const ANSWER_TIMEOUT_MS = 15_000;

export interface TemporalBinary {
  readonly path: string;
  /** Its own version output: `1.8.2 (Server 1.31.2, UI 2.50.1)`. */
  readonly version: string;
}

/** The binary, or why the file is not one. */
export function probe(path: string): Promise<TemporalBinary | { readonly problem: string }> {
  try {
    if (!statSync(path).isFile()) return Promise.resolve({ problem: `${path} is not a file` });
    accessSync(path, constants.X_OK);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const problem =
      code === 'ENOENT' ? `no file ${path}` : code === 'EACCES' ? `${path} is not executable` : `${path}: ${message}`;
    return Promise.resolve({ problem });
  }
  return new Promise((resolve) => {
    const options = { timeout: ANSWER_TIMEOUT_MS, killSignal: 'SIGKILL', encoding: 'utf8' } as const;
    execFile(path, ['--version'], options, (error, stdout, stderr) => {
      const said = /^temporal version (\S+.*)$/m.exec(stdout)?.[1];
      if (error?.killed)
        return resolve({ problem: `${path} --version did not answer within ${ANSWER_TIMEOUT_MS / 1000} s` });
      if (error || !said) {
        const words = (stderr || stdout || error?.message || '').trim().split('\n')[0]?.slice(0, 200);
        return resolve({
          problem: `${path} --version did not answer as a Temporal CLI: ${words || 'it printed nothing'}`,
        });
      }
      if (isOlder(said, OLDEST_ACCEPTED))
        return resolve({ problem: `${path} is version ${said}; at least ${OLDEST_ACCEPTED} is needed` });
      resolve({ path, version: said });
    });
  });
}

/** `0.0.0-DEV` is a build without a version stamp, assumed to be new. */
function isOlder(version: string, than: string): boolean {
  if (version.startsWith('0.0.0')) return false;
  const [a, b] = [version, than].map((v) =>
    v
      .split(/[.\s-]/)
      .slice(0, 3)
      .map(Number),
  );
  for (let i = 0; i < 3; i++) {
    const difference = (a?.[i] ?? 0) - (b?.[i] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
