// The open rollouts of a run, by the server's list of workflows. A cluster takes ten such calls a second of a namespace at
// each frontend, from everybody: so a process makes two a second at most, whatever it waits for, and all of it who ask
// for the same run share one answer for some seconds. The list itself lags behind by as much.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';

const PAGE = 1000;
/** Between two calls of a process. */
const PAUSE_MS = 500;
/** An answer is shared for as long as it took, within these bounds. */
const SHARED_MS = { least: 1000, most: 5000 };

interface Listed {
  readonly ids: Promise<ReadonlySet<string>>;
  /** Infinity while it is being read. */
  until: number;
}

interface Lists {
  readonly runs: Map<string, Listed>;
  /** The earliest time of the next call. */
  next: number;
}

const lists = new WeakMap<Client, Lists>();

/** Their workflow ids. */
export async function openRollouts(client: Client, run: string): Promise<ReadonlySet<string>> {
  const of = lists.get(client) ?? { runs: new Map<string, Listed>(), next: 0 };
  lists.set(client, of);
  const known = of.runs.get(run);
  if (known && performance.now() < known.until) return known.ids;
  const began = performance.now();
  const listed: Listed = { ids: read(client, run, of), until: Infinity };
  of.runs.set(run, listed);
  const forget = () => {
    if (of.runs.get(run) === listed) of.runs.delete(run);
  };
  try {
    const ids = await listed.ids;
    const sharedMs = Math.min(Math.max(SHARED_MS.least, performance.now() - began), SHARED_MS.most);
    listed.until = performance.now() + sharedMs;
    setTimeout(forget, sharedMs).unref();
    return ids;
  } catch (error) {
    forget();
    throw error;
  }
}

/** Ids only: the SDK's own list decodes all attributes of each workflow. */
async function read({ connection, options }: Client, run: string, of: Lists): Promise<ReadonlySet<string>> {
  const query = `EverturnRun = '${run}' AND WorkflowType = 'rollout' AND ExecutionStatus = 'Running'`;
  const ids = new Set<string>();
  let nextPageToken: Uint8Array | undefined;
  do {
    const wait = of.next - performance.now();
    of.next = performance.now() + Math.max(0, wait) + PAUSE_MS;
    if (wait > 0) await sleep(wait);
    const page = await connection.workflowService.listWorkflowExecutions({
      ...{ namespace: options.namespace, query, pageSize: PAGE },
      ...(nextPageToken ? { nextPageToken } : {}),
    });
    for (const { execution } of page.executions) ids.add(execution?.workflowId ?? '');
    nextPageToken = page.nextPageToken;
  } while (nextPageToken?.length);
  return ids;
}
