// Entry of the background process: `node supervisor.js '<SupervisorConfig as JSON>'`. Its output is the service's
// log. SIGTERM ends it in order. Exit codes: 0 stopped or idle, 10 another supervisor has this home, 1 could not start.

import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { explain } from '../../domain/errors/errors.ts';
import { homeAt } from './home.ts';
import type { CodeId } from './state.ts';
import { supervise } from './supervise.ts';
import type { WorkerCommand } from './worker-process.ts';

export interface SupervisorConfig {
  readonly homeFolder: string;
  readonly temporal: { readonly path: string; readonly version: string };
  readonly worker: WorkerCommand;
  readonly code: CodeId;
  readonly idleMs: number;
}

export const EXIT_HELD = 10;

async function main(config: SupervisorConfig): Promise<number> {
  const log = (line: string): void => console.log(`${new Date().toISOString()} [${process.pid}] ${line}`);
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, () => stop.abort());
  try {
    const { homeFolder, ...rest } = config;
    const result = await supervise({ ...rest, home: homeAt(homeFolder), env: process.env, log, signal: stop.signal });
    if (result.end !== 'held') return 0;
    log(`another supervisor, pid ${result.by.pid}, has ${homeFolder}`);
    return EXIT_HELD;
  } catch (error) {
    log(explain(error));
    return 1;
  }
}

const isProgram = process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (isProgram) process.exitCode = await main(JSON.parse(process.argv[2] ?? '{}') as SupervisorConfig);
