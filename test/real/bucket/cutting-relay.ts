// Between a worker and a bucket's server: some answers are cut off after the server has done the work, so that whoever
// asked does not know whether it was done.

import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface CuttingRelay {
  readonly url: string;
  /** Answers cut so far. */
  cuts(): number;
  close(): Promise<void>;
}

/** `mayCut` is asked with the first bytes of each answer; `host`: where it listens. */
export async function openCuttingRelay(
  target: string,
  mayCut: () => boolean,
  host = '127.0.0.1',
): Promise<CuttingRelay> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let cuts = 0;
  const server = createServer((client) => {
    const gateway = connect(Number(port), hostname);
    for (const socket of [client, gateway]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => {
        open.delete(socket);
        client.destroy();
        gateway.destroy();
      });
    }
    client.pipe(gateway);
    gateway.on('data', (bytes: Buffer) => {
      if (!bytes.subarray(0, 5).equals(Buffer.from('HTTP/')) || !mayCut()) return void client.write(bytes);
      cuts++;
      client.destroy();
    });
  });
  await new Promise<void>((done) => server.listen(0, host, done));
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    cuts: () => cuts,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}
