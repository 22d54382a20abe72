// For the tests of the server room: fake programs, a server's options, workflows that nobody plays, and the state of a
// service that this process stands for.

import { chmodSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { inject } from 'vitest';
import { freePort } from '../../../local/machine/ports.ts';
import type { DevServerOptions } from '../../../local/service/dev-server.ts';
import { identify } from '../../../local/machine/process.ts';
import type { ServiceState } from '../../../local/service/state.ts';

/** As a supervisor writes it. */
export function serviceState(change: Partial<ServiceState> = {}): ServiceState {
  return {
    format: 1,
    phase: 'ready',
    host: hostname(),
    supervisor: identify(process.pid)!,
    code: { version: '1', path: '/x', built: 'a' },
    temporal: { path: '/t', version: '1.8.2' },
    address: '127.0.0.1:7233',
    uiAddress: 'http://127.0.0.1:8233',
    startedAt: '2026-01-01T00:00:00.000Z',
    server: null,
    worker: null,
    variables: { salt: '', digests: {} },
    note: null,
    ...change,
  };
}

/** Of a real server with its database and its log in that folder, on free ports. */
export async function serverIn(folder: string, change: Partial<DevServerOptions> = {}): Promise<DevServerOptions> {
  const port = await freePort([]);
  return {
    binary: inject('temporalBinary'),
    database: join(folder, 'temporal.db'),
    logFile: join(folder, 'temporal.log'),
    port,
    uiPort: await freePort([], [port]),
    ...change,
  };
}

async function connected<T>(address: string, use: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address });
  return use(connection).finally(() => connection.close());
}

/** It stays open: no worker has its queue. */
export async function startWorkflow(address: string, workflowId: string): Promise<void> {
  await connected(address, ({ workflowService }) =>
    workflowService.startWorkflowExecution({
      namespace: 'default',
      workflowId,
      workflowType: { name: 'any' },
      taskQueue: { name: 'nobody' },
      requestId: workflowId,
    }),
  );
}

export async function openWorkflowIds(address: string): Promise<(string | null | undefined)[]> {
  const { executions } = await connected(address, ({ workflowService }) =>
    workflowService.listOpenWorkflowExecutions({ namespace: 'default', maximumPageSize: 10 }),
  );
  return executions?.map(({ execution }) => execution?.workflowId) ?? [];
}

/** A shell script of that name. */
export function program(folder: string, name: string, script: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

export function fakeTemporal(folder: string, version = '1.8.2', name = 'temporal'): string {
  return program(folder, name, `echo "temporal version ${version} (Server 1.31.2, UI 2.50.1)"`);
}
