// The servers of a run as `status` shows them, from what several workers said.

import { describe, expect, test } from 'vitest';
import { serverTable } from '../../cli/view/servers.ts';
import { NO_RECHECKS, type ServerStatus } from '../../domain/run/server-status.ts';
import { readFleet, writeFleetReport } from '../../records/run/fleet-status.ts';
import { testFolder } from '../support/scratch-folder.ts';

const report = (changes: Partial<ServerStatus>): ServerStatus => ({
  url: 'http://a',
  state: 'up',
  requests: 10,
  failures: 0,
  failuresBy: {},
  inFlight: 1,
  latencyP50Ms: 1500,
  version: 3,
  versionLabel: 'step-3',
  fellFrom: null,
  lastFailure: null,
  rechecks: NO_RECHECKS,
  ...changes,
});

describe('the report on servers', () => {
  test('answers that were asked again wait beside each other: what one waited is told, and no sum', () => {
    const rechecks = { answers: 5, tokens: 900, waitedMs: 1200, differed: 0 };
    const told = (changes: Partial<typeof rechecks>) =>
      serverTable([report({ rechecks: { ...rechecks, ...changes } })], (_, text) => text);
    expect(told({})).toContain('5, 0.24 s each');
    expect(told({ differed: 1 })).toContain('5, 0.24 s each, 1 differed');
    expect(told({ answers: 0, waitedMs: 0 })).toMatch(/step-3 +0 /);
  });

  test('a server that went back to older weights is told with what it had, whichever worker saw it', async () => {
    const folder = testFolder();
    const fallen = report({ version: 0, versionLabel: 'default', fellFrom: 'step-3' });
    await writeFleetReport(folder, 'one', { at: Date.now(), servers: [report({})] });
    await writeFleetReport(folder, 'two', { at: Date.now(), servers: [fallen] });
    const told = serverTable(await readFleet(folder, 0), (_, text) => text);
    expect(told).toContain('default, was step-3');
  });

  test('failures are told by their reasons, over all workers', async () => {
    const folder = testFolder();
    const failed = (failuresBy: Record<string, number>, lastFailure: string) => {
      const failures = Object.values(failuresBy).reduce((a, b) => a + b);
      return { at: Date.now(), servers: [report({ failures, failuresBy, lastFailure }), report({ url: 'http://b' })] };
    };
    await writeFleetReport(folder, 'one', failed({ 'server-busy': 2, 'server-reset': 1 }, 'http://a was busy'));
    await writeFleetReport(folder, 'two', failed({ 'server-reset': 4 }, 'http://a broke the connection'));
    const [a, b] = await readFleet(folder, 0);
    expect(a).toMatchObject({ requests: 20, failures: 7, failuresBy: { 'server-busy': 2, 'server-reset': 5 } });
    const [, first, second] = serverTable([a!, b!], (_, text) => text).split('\n');
    expect(first).toMatch(/http:\/\/a .*step-3 +– +7: 5 server-reset, 2 server-busy +http:\/\/a /);
    expect(second).toMatch(/http:\/\/b .*step-3 +– +0$/);
  });
});
