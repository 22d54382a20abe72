// Fake programs, and the state of a service that this process stands for, for the tests of the server room.

import { chmodSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { identify } from '../../../local/machine/process.ts';
import type { ServiceState } from '../../../local/service/state.ts';

/** As a supervisor writes it. */
export function serviceState(change: Partial<ServiceState> = {}): ServiceState {
  return {
    format: 1,
    phase: 'ready',
    host: hostname(),
    supervisor: identify(process.pid)!,
    code: { version: '1', path: '/x', builtAtMs: 1 },
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
