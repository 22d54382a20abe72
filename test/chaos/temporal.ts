// A real Temporal server with a database file, by our own server room, kept alive on the same port by the same file:
// whoever kills it finds it back with all that it had acknowledged.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DevServer, startDevServer } from '../../local/service/dev-server.ts';
import { freePort } from '../../local/machine/ports.ts';
import { keepPorts } from '../../local/service/service-ports.ts';

export interface KeptTemporal {
  readonly address: string;
  pid(): number | undefined;
  lives(): number;
  stop(): Promise<void>;
}

export async function keepTemporal(binary: string, folder: string): Promise<KeptTemporal> {
  const port = await freePort([]);
  const ports = { port, uiPort: await freePort([], [port]) };
  let wanted = true;
  let lives = 0;
  let server: DevServer | undefined;

  async function start(): Promise<DevServer> {
    await keepPorts(ports);
    const options = { binary, database: join(folder, 'temporal.db'), logFile: join(folder, 'temporal.log'), ...ports };
    lives++;
    return startDevServer({ ...options, onSpawned: (id) => (spawned = id.pid) });
  }
  let spawned: number | undefined;
  server = await start();

  async function keep(): Promise<void> {
    while (wanted) {
      await server?.exited;
      spawned = server = undefined;
      if (!wanted) return;
      // It may be killed while it starts, too.
      server = await start().catch(() => undefined);
      if (!server) await sleep(100);
    }
  }
  const kept = keep();
  return {
    address: server.address,
    pid: () => spawned,
    lives: () => lives,
    async stop() {
      wanted = false;
      await server?.stop();
      await kept;
    },
  };
}
