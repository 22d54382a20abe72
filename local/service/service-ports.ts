// The ports of the local service: stable over restarts, so that bookmarks, workers and clients stay valid.

import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_PORT, DEFAULT_UI_PORT } from './dev-server.ts';
import { freePort, isFree, LOOPBACK } from '../machine/ports.ts';
import type { ServiceState } from './state.ts';

export interface Ports {
  readonly port: number;
  /** Null: no web UI. */
  readonly uiPort: number | null;
}

type Addresses = Pick<ServiceState, 'address' | 'uiAddress'>;

/** The default ports; if another process has them, the previous ones; else any. */
export async function choosePorts(previous: Addresses | undefined, ui = true): Promise<Ports> {
  const port = await freePort([DEFAULT_PORT, portOf(previous?.address)]);
  return { port, uiPort: ui ? await freePort([DEFAULT_UI_PORT, portOf(previous?.uiAddress)], [port]) : null };
}

/** The same ports again, once the dead server's sockets are closed; new ones only if another process took them. */
export async function keepPorts(ports: Ports): Promise<Ports> {
  for (let tries = 0; tries < 20; tries++) {
    if ((await isFree(ports.port)) && (ports.uiPort === null || (await isFree(ports.uiPort)))) return ports;
    await sleep(100);
  }
  const port = await freePort([ports.port]);
  return { port, uiPort: ports.uiPort === null ? null : await freePort([ports.uiPort], [port]) };
}

export function addressesOf(ports: Ports): Addresses {
  const uiAddress = ports.uiPort === null ? null : `http://${LOOPBACK}:${ports.uiPort}`;
  return { address: `${LOOPBACK}:${ports.port}`, uiAddress };
}

function portOf(address: string | null | undefined): number | undefined {
  const port = Number(/:(\d+)$/.exec(address ?? '')?.[1]);
  return port > 0 ? port : undefined;
}
