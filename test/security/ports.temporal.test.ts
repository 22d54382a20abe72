// Who else is on the network sees nothing of the local service: whatever it opens, it opens on loopback only.

import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openEverturn } from '../support/everturn.ts';

const DATA = join(import.meta.dirname, '../../examples/arithmetic.jsonl');
const everturn = openEverturn();
afterAll(() => everturn.close());

describe('open ports', () => {
  test('listens on loopback only, while it plays', { timeout: 200_000 }, async ({ skip }) => {
    skip(!existsSync('/proc/net/tcp'), 'this system has no /proc/net/tcp');
    const ended = await everturn.run(
      'run',
      DATA,
      '--limit',
      '2',
      '--num-turns',
      '1',
      '--max-new-tokens',
      '8',
      '--name',
      'p',
    );
    expect(ended.code, ended.stderr).toBe(0);
    const state = everturn.service()!;
    const inodes = new Set(processesOf(everturn.folder).flatMap(socketsOf));
    const listening = ['tcp', 'tcp6', 'udp', 'udp6'].flatMap(openAddresses).filter(({ inode }) => inodes.has(inode));
    const ports = listening.map(({ port }) => port);
    for (const address of [state.address, state.uiAddress]) expect(ports).toContain(Number(address!.split(':').at(-1)));
    expect(listening.filter(({ host }) => !LOOPBACK.test(host))).toEqual([]);
  });
});

/** As /proc writes them: 127.x.x.x, ::1, and 127.x.x.x mapped into IPv6, each word of four bytes in the machine's order. */
const LOOPBACK = /^(?:[0-9A-F]{6}7F|0{24}01000000|0{16}FFFF0000[0-9A-F]{6}7F)$/;

interface Open {
  readonly host: string;
  readonly port: number;
  readonly inode: string;
}

/** Sockets that wait for somebody: listening ones, and of UDP those that are connected to nobody. */
function openAddresses(kind: string): Open[] {
  return readFileSync(`/proc/net/${kind}`, 'latin1')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((words) => words[3] === (kind.startsWith('tcp') ? '0A' : '07'))
    .map((words) => {
      const [host = '', port = ''] = words[1]!.split(':');
      return { host, port: Number.parseInt(port, 16), inode: words[9]! };
    });
}

/** Processes that were started with that folder in their environment, or by its name. */
function processesOf(folder: string): string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return ['environ', 'cmdline'].some((file) => readFileSync(`/proc/${name}/${file}`, 'latin1').includes(folder));
    } catch {
      return false;
    }
  });
}

function socketsOf(pid: string): string[] {
  return listed(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.slice(1) ?? [];
    } catch {
      return []; // It was closed meanwhile.
    }
  });
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
