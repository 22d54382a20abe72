// A server on a busy machine answers late. While its process is known to live it is waited for; else one attempt is enough.

import { createServer, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { connect } from '../../client/temporal/connection.ts';
import { until } from '../support/until.ts';

let server: Http2Server | undefined;
afterEach(() => server?.close());

interface LateServer {
  readonly address: string;
  readonly calls: () => number;
  /** From now on every call is refused, as by a server that has too much to do. */
  refuse(): void;
}

/** Speaks gRPC: gives every call an empty message. The first `mute` calls get no answer. */
async function lateServer(mute: number): Promise<LateServer> {
  let calls = 0;
  let status = '0';
  server = createServer();
  server.on('stream', (stream) => {
    stream.on('error', () => undefined);
    if (++calls <= mute) return;
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': status }));
    stream.end(status === '0' ? Buffer.alloc(5) : undefined);
  });
  await new Promise<void>((resolve) => void server!.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: () => calls,
    refuse: () => void (status = '14'),
  };
}

const unreachable = { name: 'TemporalError', reason: 'temporal-unreachable' };

describe('a connection to Temporal', () => {
  test('is had from a server that lives and answers late', async () => {
    const { address, calls } = await lateServer(2);
    const session = await connect({ address, namespace: 'default' }, { isAlive: () => true, firstMs: 200 });
    expect(calls()).toBeGreaterThan(2);
    await session.close();
  }, 60_000);

  test('that is closed while a refused call waits to be repeated ends the call, and not the process', async () => {
    const { address, calls, refuse } = await lateServer(0);
    const session = await connect({ address, namespace: 'default' });
    refuse();
    const before = calls();
    const asked = session.client.workflowService.describeNamespace({ namespace: 'default' }).then(
      () => 'answered',
      (error: { readonly code?: number }) => error.code,
    );
    await until('it is refused', async () => calls() > before + 1 || undefined, 30_000);
    await session.close();
    expect(await asked).toBe(1);
  }, 60_000);

  test('is given up after one attempt where nobody knows whether the server lives', async () => {
    const { address, calls } = await lateServer(Number.POSITIVE_INFINITY);
    await expect(connect({ address, namespace: 'default' }, { firstMs: 200 })).rejects.toMatchObject(unreachable);
    expect(calls()).toBeLessThan(3);
  }, 60_000);

  test('is given up when the server dies meanwhile', async () => {
    let asked = 0;
    const options = { isAlive: () => ++asked < 3, firstMs: 100 };
    await expect(connect({ address: '127.0.0.1:1', namespace: 'default' }, options)).rejects.toMatchObject(unreachable);
    expect(asked).toBe(3);
  }, 60_000);
});
