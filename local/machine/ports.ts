// Free TCP ports on loopback: the first wanted port without a listener, else one that the kernel picks.

import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

export const LOOPBACK = '127.0.0.1';

/** `avoid`: ports already assigned in the same start. */
export async function freePort(
  wanted: readonly (number | undefined)[],
  avoid: readonly number[] = [],
): Promise<number> {
  for (const port of wanted) if (port !== undefined && !avoid.includes(port) && (await isFree(port))) return port;
  for (;;) {
    const port = await bind(0);
    if (port === undefined) throw new Error(`no port of ${LOOPBACK} can be bound`);
    if (!avoid.includes(port)) return port;
  }
}

export async function isFree(port: number): Promise<boolean> {
  return (await bind(port)) !== undefined;
}

/**
 * One of 16 million loopback addresses and a port on it, which a web page cannot guess. On systems with only 127.0.0.1
 * (macOS), a port that the kernel picks.
 */
export async function hiddenPlace(): Promise<{ readonly host: string; readonly port: number }> {
  const host = `127.${[255, 256, 254].map((n, i) => randomInt(n) + (i === 1 ? 0 : 1)).join('.')}`;
  const port = await bind(0, host);
  if (port !== undefined) return { host, port };
  return { host: LOOPBACK, port: await freePort([]) };
}

function bind(port: number, host = LOOPBACK): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      ['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL'].includes(error.code ?? '') ? resolve(undefined) : reject(error),
    );
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : undefined));
    });
  });
}
