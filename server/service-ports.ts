// Which ports the local service uses: stable over restarts, so that bookmarks, workers and clients stay right.

import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_PORT, DEFAULT_UI_PORT } from './dev-server.ts';
import { freePort, isFree, LOOPBACK } from './ports.ts';
import type { ServiceState } from './state.ts';

export interface Ports {
  readonly port: number;
  readonly uiPort: number;
}

type Addresses = Pick<ServiceState, 'address' | 'uiAddress'>;

/** The defaults; where somebody else has them, those of last time; else any. */
export async function choosePorts(previous: Addresses | undefined): Promise<Ports> {
  const port = await freePort([DEFAULT_PORT, portOf(previous?.address)]);
  return { port, uiPort: await freePort([DEFAULT_UI_PORT, portOf(previous?.uiAddress)], [port]) };
}

/** The same ports again, once the dead server's sockets are gone; new ones only when somebody took them. */
export async function keepPorts(ports: Ports): Promise<Ports> {
  for (let tries = 0; tries < 20; tries++) {
    if ((await isFree(ports.port)) && (await isFree(ports.uiPort))) return ports;
    await sleep(100);
  }
  const port = await freePort([ports.port]);
  return { port, uiPort: await freePort([ports.uiPort], [port]) };
}

export function addressesOf(ports: Ports): Addresses {
  return { address: `${LOOPBACK}:${ports.port}`, uiAddress: `http://${LOOPBACK}:${ports.uiPort}` };
}

function portOf(address: string | undefined): number | undefined {
  const port = Number(/:(\d+)$/.exec(address ?? '')?.[1]);
  return port > 0 ? port : undefined;
}
