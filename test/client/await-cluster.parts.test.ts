// Which failures a starting worker waits out, and which end it. Real servers: test/local/service/worker-waits.temporal.test.ts.

import { describe, expect, test } from 'vitest';
import { TemporalError, UsageError } from '../../domain/errors/errors.ts';
import { awaitCluster, type Waiting } from '../../client/temporal/worker-connection.ts';

const grpc = (code: number) => Object.assign(new Error(`status ${code}`), { code, details: 'd', metadata: {} });
const native = (message: string) => Object.assign(new Error(message), { name: 'TransportError' });
const behind = (code: number) =>
  new TemporalError('Could not list the search attributes.', { reason: 'search-attributes', cause: grpc(code) });
const unknown = new TemporalError('no namespace', { reason: 'no-namespace' });

function opened(faults: readonly unknown[], waiting: Partial<Waiting> = {}) {
  const said: string[] = [];
  const left = [...faults];
  const where = { address: 'there:7233', namespace: 'here' };
  const signal = new AbortController().signal;
  const until = awaitCluster(where, { say: (line) => said.push(line), signal, longestPauseMs: 1, ...waiting });
  const step = () => (left.length > 0 ? Promise.reject(left.shift()) : Promise.resolve('open'));
  return { said, left, open: () => until(step), until };
}

describe('a worker that starts', () => {
  test.each([
    ['a server that cannot be reached', new TemporalError('away', { reason: 'temporal-unreachable', retryable: true })],
    ['a call that no server answers', grpc(14)],
    ['an answer that comes too late', grpc(4)],
    ['a server that has too much to do', grpc(8)],
    ['a stream that is reset', grpc(13)],
    ['a proxy without a server', grpc(2)],
    ['the same behind an error of ours', behind(14)],
    [
      'a native call in the moment of a kill',
      native("Failed to call GetSystemInfo: code: 'The service is currently unavailable', message: ConnectionReset"),
    ],
    [
      'a native connection that is refused',
      native('tonic::transport::Error(Transport, ConnectError("tcp connect error"))'),
    ],
  ])('waits for what passes, and says so: %s', async (_, fault) => {
    const waits: boolean[] = [];
    const { open, said } = opened([fault, fault, fault], { onWait: (now) => waits.push(now) });
    expect(await open()).toBe('open');
    expect(waits).toEqual([true, true, true, false]);
    expect(said[0]).toMatch(/^Temporal at there:7233 cannot be used yet; this worker waits for it\. /);
    expect(said[1]).toMatch(/^Temporal at there:7233 answers, after \d+ s\.$/);
    expect(said).toHaveLength(2);
  });

  test.each([
    ['permission', grpc(7), 'temporal-refused'],
    ['a key', grpc(16), 'temporal-refused'],
    [
      'permission, by the native client',
      native("code: 'The caller does not have permission to execute the specified operation'"),
      'temporal-refused',
    ],
    [
      'a key, by the native client',
      native("code: 'The request does not have valid authentication credentials'"),
      'temporal-refused',
    ],
    ['another kind of server', new TemporalError('no', { reason: 'not-temporal' }), 'not-temporal'],
    ['the right to see our search attributes', behind(7), 'search-attributes'],
    ['a configuration', new UsageError('no', { reason: 'bad-temporal-config' }), 'bad-temporal-config'],
    ['a call that the server understands', grpc(3), 'temporal-call'],
  ])('ends for what waiting cannot mend: %s', async (_, fault, reason) => {
    const { open, said, left } = opened([fault, grpc(14)]);
    await expect(open()).rejects.toMatchObject({ reason });
    expect(left).toHaveLength(1);
    expect(said).toEqual([]);
  });

  test('gives a server that has just started time to know its namespaces, and then believes it', async () => {
    expect(await opened([unknown, unknown]).open()).toBe('open');
    await expect(opened([unknown], { namespaceMs: 0 }).open()).rejects.toBe(unknown);
    const missing = native("Namespace here was not found: code: 'Some requested entity was not found'");
    await expect(opened([missing], { namespaceMs: 0 }).open()).rejects.toMatchObject({ reason: 'no-namespace' });
  });

  test('reports a server that is connected and silent', async () => {
    const lines: string[] = [];
    const stop = new AbortController();
    const { until } = opened([], { everyMs: 10, signal: stop.signal, say: (line) => lines.push(line) && stop.abort() });
    await expect(until(() => new Promise<never>(() => {}))).rejects.toThrow(/abort/i);
    expect(lines[0]).toContain('It gives no answer.');
  });

  test('leaves at once when it is asked to stop, whatever it waits for', async () => {
    const stop = new AbortController();
    const { open } = opened(
      Array.from({ length: 9 }, () => grpc(14)),
      { signal: stop.signal, longestPauseMs: 60_000 },
    );
    const ended = open();
    setTimeout(() => stop.abort(), 10);
    await expect(ended).rejects.toThrow(/abort/i);
  });
});
