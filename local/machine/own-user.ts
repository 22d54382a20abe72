// Whether a connection to a port of ours comes from this user. Linux says who owns a local connection; elsewhere every
// user of the machine is admitted.

import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';

const known = new WeakMap<Socket, Promise<boolean>>();

/** Whether another user of this machine, other than root, has opened it. Asked once for each connection. */
export function isOtherUser(socket: Socket): Promise<boolean> {
  const answer = known.get(socket) ?? ownedByOther(socket);
  known.set(socket, answer);
  return answer;
}

async function ownedByOther({ remoteAddress, remotePort, localPort }: Socket): Promise<boolean> {
  const own = process.getuid?.();
  const client = remoteAddress?.split('.').map(Number);
  if (own === undefined || client?.length !== 4 || remotePort === undefined || localPort === undefined) return false;
  const table = await readFile('/proc/net/tcp', 'latin1').catch(() => '');
  const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, '0');
  const rows = table.split('\n').map((line) => line.trim().split(/\s+/));
  const row = rows.find(
    ([, local = '', remote = '']) => local.endsWith(`:${hex(remotePort)}`) && remote.endsWith(`:${hex(localPort)}`),
  );
  const uid = row?.[7];
  return uid !== undefined && Number(uid) !== own && uid !== '0';
}
