// Runs the Temporal dev server as a guarded child: loopback only, durable in one SQLite file, tuned for one machine.
// Ready means that it answers SERVING and lists its namespace. Ends with its owner. `service.ts` restarts it.

import { closeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { TemporalError } from '../../domain/errors/errors.ts';
import { SEARCH_ATTRIBUTES } from '../../domain/names/search-attributes.ts';
import { spawnGuarded, type GuardedProcess } from '../machine/guarded.ts';
import { ask } from '../../client/temporal/local-connection.ts';
import { logSize, logTail, openLog } from './logs.ts';
import { hiddenPlace, isFree, LOOPBACK } from '../machine/ports.ts';
import type { ProcessId } from '../machine/process.ts';
import { openUiGate, type UiGate, type Upstream } from './ui-gate.ts';

export const DEFAULT_PORT = 7233;
export const DEFAULT_UI_PORT = 8233;
export const NAMESPACE = 'default';
const READY_WITHIN_MS = 60_000;
const STOP_GRACE_MS = 10_000;
const SERVING = 1;

export interface DevServerOptions {
  readonly binary: string;
  /** SQLite file; created if absent. */
  readonly database: string;
  readonly port: number;
  /** Null: no web UI. */
  readonly uiPort: number | null;
  readonly logFile: string;
  readonly readyWithinMs?: number;
  /** Called before the server is ready, so that the successor of a killed owner knows which process to wait for. */
  readonly onSpawned?: (id: ProcessId) => void;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

export interface DevServer {
  /** `host:port` for clients and workers. */
  readonly address: string;
  /** Null: no UI. */
  readonly uiAddress: string | null;
  readonly id: ProcessId;
  /** Resolves when it has ended, with a description of how. */
  readonly exited: Promise<string>;
  stop(): Promise<void>;
}

/** Measured on one machine: 204 turns/s with these, 44 to 68 without (WAL and NORMAL survive any killed process). */
const TUNING: readonly string[] = [
  '--sqlite-pragma=journal_mode=WAL',
  '--sqlite-pragma=synchronous=NORMAL',
  '--dynamic-config-value=system.enableActivityEagerExecution=true',
  '--dynamic-config-value=matching.numTaskqueueReadPartitions=1',
  '--dynamic-config-value=matching.numTaskqueueWritePartitions=1',
  // Runs take turns (domain/run/priority.ts).
  '--dynamic-config-value=matching.enableFairness=true',
  // A collection that starts hundreds of rollouts is locked nearly all the time: requests that find it locked are queued
  // instead of retried after seconds. Measured: 1,000 rollouts open after 40 to 42 s, without this after 70 s.
  '--dynamic-config-value=history.taskSchedulerEnableExecutionQueueScheduler=true',
  // Its HTTP interface would answer a web page that uses DNS rebinding; Everturn does not use it.
  '--dynamic-config-value=frontend.httpAllowedHosts=["nobody.invalid"]',
];

/** Resolves when the server is SERVING; otherwise stops it and throws with the tail of its log. */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  // Without this check another server on that port would be mistaken for ours.
  for (const port of [options.port, options.uiPort])
    if (port !== null && !(await isFree(port)))
      throw new TemporalError(`Port ${port} on ${LOOPBACK} is taken.`, { reason: 'port-taken', retryable: true });
  const logFrom = logSize(options.logFile);
  const ui = options.uiPort === null ? null : await hiddenPlace();
  const child = await spawnServer(options, ui);
  options.onSpawned?.(child.id);
  const address = `${LOOPBACK}:${options.port}`;
  const within = options.readyWithinMs ?? READY_WITHIN_MS;
  const done = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, done.signal]) : done.signal;
  const answer = await Promise.race([untilServing(address, within, signal), child.exited.then((how) => ({ how }))]);
  done.abort();
  if (answer !== 'serving') {
    await child.stop(0);
    const what = answer === 'silent' ? `did not answer SERVING within ${within / 1000} s` : answer.how;
    const tail = logTail(options.logFile, 20, 8192, logFrom);
    throw new TemporalError(
      `The Temporal server at ${address} ${what}.${tail ? `\nThe end of its log:\n${tail}\n` : ''}`,
      {
        reason: 'server-start',
        fix: `Its log is ${options.logFile}.`,
        retryable: true,
      },
    );
  }
  const gate = ui && options.uiPort !== null ? await openGate(options.uiPort, ui, child) : undefined;
  void child.exited.then(() => gate?.close());
  return {
    address,
    uiAddress: gate ? `http://${LOOPBACK}:${options.uiPort}` : null,
    id: child.id,
    exited: child.exited,
    stop: () => child.stop(STOP_GRACE_MS),
  };
}

async function openGate(port: number, ui: Upstream, child: GuardedProcess): Promise<UiGate> {
  try {
    return await openUiGate(port, ui);
  } catch (cause) {
    await child.stop(0);
    throw new TemporalError(`Port ${port} on ${LOOPBACK} is taken.`, { reason: 'port-taken', retryable: true, cause });
  }
}

async function spawnServer(options: DevServerOptions, ui: Upstream | null): Promise<GuardedProcess> {
  const args = serverArguments(options, ui);
  // Variables that point the user's own `temporal` command elsewhere must not affect this server.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TEMPORAL_')));
  const log = openLog(options.logFile);
  try {
    return await spawnGuarded(options.binary, args, { stdout: log, stderr: log, env });
  } finally {
    closeSync(log);
  }
}

function serverArguments(options: DevServerOptions, ui: Upstream | null): readonly string[] {
  return [
    'server',
    'start-dev',
    `--ip=${LOOPBACK}`,
    `--port=${options.port}`,
    ...(ui ? [`--ui-ip=${ui.host}`, `--ui-port=${ui.port}`] : ['--headless']),
    `--db-filename=${options.database}`,
    ...TUNING,
    ...Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => `--search-attribute=${name}=${type}`),
  ];
}

async function untilServing(address: string, withinMs: number, signal: AbortSignal): Promise<'serving' | 'silent'> {
  const deadline = Date.now() + withinMs;
  while (Date.now() < deadline && !signal.aborted) {
    if (await isServing(address)) return 'serving';
    await sleep(100);
  }
  return 'silent';
}

/** Whether a Temporal frontend answers there and has the namespace. Never throws. */
export async function isServing(address: string, namespace = NAMESPACE): Promise<boolean> {
  try {
    return await ask(address, 2_000, async ({ healthService, workflowService }) => {
      const { status } = await healthService.check({ service: 'temporal.api.workflowservice.v1.WorkflowService' });
      if (status !== SERVING) return false;
      await workflowService.describeNamespace({ namespace });
      return true;
    });
  } catch {
    return false;
  }
}
