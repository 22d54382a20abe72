// The local service in this process, with the output of its children. Never ends this process and never writes to the
// terminal; the caller handles signals.

import type { Readable } from 'node:stream';
import { TemporalError } from '../../domain/errors/errors.ts';
import { findTemporal } from './binary/find.ts';
import { homeOf, type Environment } from './home.ts';
import { ownCode, ownWorker } from './own-worker.ts';
import type { OnProgress } from './progress.ts';
import type { CodeId, ServiceState } from './state.ts';
import { supervise } from './supervise.ts';
import type { WorkerCommand } from './worker-process.ts';

export interface ForegroundOptions {
  readonly env: Environment;
  readonly onProgress?: OnProgress;
  readonly worker?: WorkerCommand;
  readonly code?: CodeId;
  /** Aborted by the caller, on Ctrl-C. */
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
  readonly onOutput: (name: 'server' | 'worker', stream: Readable) => void;
  readonly onState?: (state: ServiceState) => void;
}

/** The same service in this process; ends on `signal` only. */
export async function runForeground(options: ForegroundOptions): Promise<void> {
  const { env, onProgress, worker, code, ...rest } = options;
  const home = homeOf(env);
  const temporal = await findTemporal({ env, ...(onProgress && { onProgress }) });
  const result = await supervise({
    ...rest,
    env,
    home,
    temporal,
    worker: worker ?? ownWorker(),
    code: code ?? ownCode(),
  });
  if (result.end === 'held')
    throw new TemporalError(`The local service is already up in the background (pid ${result.by.pid}).`, {
      reason: 'service-up',
      fix: 'End it first with `everturn down`.',
    });
}
