// Verdicts and notes from the viewer's page: each is a command of its own process, so that it is checked, recorded and said as
// on the command line.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../../local/machine/package-root.ts';
import type { Runs } from '../../viewer/runs.ts';
import type { Steering } from '../../viewer/steer.ts';
import { personOf } from '../find/person.ts';
import type { Io } from '../io.ts';
import { newToken } from '../../client/feed/feed-http.ts';

const LIMIT_MS = 60_000;
const MOST_OUTPUT = 1 << 20;

export async function steeringOf(
  io: Io,
  { out, has }: Pick<Runs, 'out' | 'has'>,
  by: string | undefined,
): Promise<Steering> {
  const person = await personOf(io, by);
  const entry = join(packageRoot(), 'dist', 'cli', 'index.js');
  return {
    key: newToken(),
    has,
    run: (args) => command(io, [entry, ...withOptions(args, [`--out=${out}`, `--by=${person}`, '--via=view'])]),
  };
}

/** Options stand before `--`, which ends them. */
export function withOptions(args: readonly string[], more: readonly string[]): string[] {
  const end = args.indexOf('--');
  return [...args.slice(0, end), ...more, ...args.slice(end)];
}

function command(io: Io, args: readonly string[]): ReturnType<Steering['run']> {
  const env = { ...io.env, NO_COLOR: '1' };
  const limits = { timeout: LIMIT_MS, maxBuffer: MOST_OUTPUT, cwd: io.cwd, env };
  return new Promise((done) => {
    execFile(process.execPath, args, limits, (error, out, err) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      const late = error?.killed ? '\nIt took too long and was ended.' : '';
      done({ code, out, err: err + late });
    }).stdin?.end();
  });
}
