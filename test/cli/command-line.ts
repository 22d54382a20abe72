// The command line as a test calls it in this process: in a folder of its own, with a home in it.

import { join } from 'node:path';
import { main } from '../../cli/main.ts';
import type { Io } from '../../cli/io.ts';
import { scriptedIo } from './scripted-io.ts';

export interface Called {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** How the command ends, and what it prints. */
export async function call(cwd: string, args: readonly string[], env: Io['env'] = {}): Promise<Called> {
  const io = scriptedIo({ cwd, env: { EVERTURN_HOME: join(cwd, '.home'), ...env } });
  const code = await main(io, args);
  return { code, ...io.text };
}
