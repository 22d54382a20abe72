// Who else is on the network sees nothing of the local service: whatever it opens, it opens on loopback only.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openEverturn } from '../support/everturn.ts';
import { listeningOf } from '../support/listening-ports.ts';
import { allPids, procFile } from '../support/processes.ts';

const DATA = join(import.meta.dirname, '../../examples/arithmetic.jsonl');
const everturn = openEverturn();
afterAll(() => everturn.close());

describe('open ports', () => {
  test('listens on loopback only, while it plays', { timeout: 200_000 }, async ({ skip }) => {
    skip(!existsSync('/proc/net/tcp'), 'this system has no /proc/net/tcp');
    const args = ['--name', 'p', '--limit', '2', '--num-turns', '1', '--max-new-tokens', '8'];
    await everturn.mustRun('run', DATA, ...args);
    const state = everturn.service()!;
    const listening = listeningOf(processesOf(everturn.folder));
    const ports = listening.map(({ port }) => port);
    for (const address of [state.address, state.uiAddress]) expect(ports).toContain(Number(address!.split(':').at(-1)));
    expect(listening.filter(({ isLoopback }) => !isLoopback)).toEqual([]);
  });
});

/** Processes that were started with that folder in their environment, or by its name. */
const processesOf = (folder: string): number[] =>
  allPids().filter((pid) => ['environ', 'cmdline'].some((file) => procFile(pid, file).includes(folder)));
