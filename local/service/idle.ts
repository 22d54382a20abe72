// Decides when the local service may end: no CLI call and no open workflow for the whole limit. A server that does not
// answer counts as busy.

import { closeSync, openSync, statSync, utimesSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Home } from './home.ts';
import { ask } from '../../client/temporal/local-connection.ts';

/** Every CLI call does this first, long ones every minute, and so keeps the service up. */
export function touchService(home: Home): void {
  const now = new Date();
  try {
    utimesSync(home.touchFile, now, now);
  } catch {
    closeSync(openSync(home.touchFile, 'a', 0o600));
  }
}

export function lastTouchMs(home: Home): number {
  return statSync(home.touchFile, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** `address`: undefined while the service starts for the first time, which counts as use. */
export async function untilIdle(
  home: Home,
  idleMs: number,
  address: () => string | undefined,
  signal: AbortSignal,
): Promise<void> {
  let lastUseMs = Date.now();
  const everyMs = Math.min(30_000, Math.max(200, idleMs / 10));
  while (!signal.aborted) {
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
    const server = address();
    lastUseMs = server === undefined ? Date.now() : Math.max(lastUseMs, lastTouchMs(home));
    if (server === undefined || Date.now() - lastUseMs < idleMs || signal.aborted) continue;
    if ((await openWorkflows(server)) === 0) return;
    lastUseMs = Date.now();
  }
}

/** Undefined when the server does not answer. */
export async function openWorkflows(address: string, namespace = 'default'): Promise<number | undefined> {
  try {
    return await ask(address, 5_000, async ({ workflowService }) => {
      const query = `ExecutionStatus = 'Running'`;
      return Number((await workflowService.countWorkflowExecutions({ namespace, query })).count ?? 0);
    });
  } catch {
    return undefined;
  }
}
