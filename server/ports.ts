// Free TCP ports on loopback. The first wanted port on which nobody listens, else one the kernel picks.

import { createServer } from 'node:net';

export const LOOPBACK = '127.0.0.1';

/** `avoid`: ports already promised to somebody else in the same start. */
export async function freePort(
  wanted: readonly (number | undefined)[],
  avoid: readonly number[] = [],
): Promise<number> {
  for (const port of wanted) if (port !== undefined && !avoid.includes(port) && (await isFree(port))) return port;
  for (;;) {
    const port = await bind(0);
    if (port !== undefined && !avoid.includes(port)) return port;
  }
}

export async function isFree(port: number): Promise<boolean> {
  return (await bind(port)) !== undefined;
}

function bind(port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' || error.code === 'EACCES' ? resolve(undefined) : reject(error),
    );
    server.listen({ host: LOOPBACK, port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : undefined));
    });
  });
}
