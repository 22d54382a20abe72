import { createServer } from 'node:net';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freePort, isFree } from '../../../local/machine/ports.ts';
import { addressesOf, choosePorts } from '../../../local/service/service-ports.ts';

async function taken(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}

describe('free ports', () => {
  test.each(['127.0.0.1', '0.0.0.0'])(
    'takes another port when somebody listens on the wanted one at %s',
    async (host) => {
      const wanted = await taken(host);
      expect(await isFree(wanted)).toBe(false);
      const port = await freePort([wanted]);
      expect(port).not.toBe(wanted);
      expect(await isFree(port)).toBe(true);
    },
  );

  test('takes the first wanted port that is free and not promised already', async () => {
    const [first, second] = [await freePort([]), await freePort([])];
    expect(await freePort([undefined, first, second])).toBe(first);
    expect(await freePort([first, second], [first])).toBe(second);
  });

  test('server and UI never share a port, whatever was written down last time', async () => {
    const port = await freePort([]);
    const { port: chosen, uiPort } = await choosePorts(addressesOf({ port, uiPort: port }));
    expect(chosen).not.toBe(uiPort);
  });
});
