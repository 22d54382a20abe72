// The sockets with which processes wait for others, as Linux says in /proc: listening ones of TCP, and of UDP those that are
// connected to nobody.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface ListeningPort {
  /** Dotted, of IPv4; of IPv6 as /proc writes it. */
  readonly host: string;
  readonly port: number;
  readonly isLoopback: boolean;
}

export function listeningOf(pids: readonly number[]): ListeningPort[] {
  const inodes = new Set(pids.flatMap(socketsOf));
  return ['tcp', 'tcp6', 'udp', 'udp6'].flatMap((kind) =>
    readFileSync(`/proc/net/${kind}`, 'latin1')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter((words) => words[3] === (kind.startsWith('tcp') ? '0A' : '07') && inodes.has(words[9]!))
      .map((words) => {
        const [hex = '', port = ''] = words[1]!.split(':');
        return { host: hostOf(hex), port: Number.parseInt(port, 16), isLoopback: LOOPBACK.test(hex) };
      }),
  );
}

/** 127.x.x.x, ::1, and 127.x.x.x mapped into IPv6, each word of four bytes in the machine's order. */
const LOOPBACK = /^(?:[0-9A-F]{6}7F|0{24}01000000|0{16}FFFF0000[0-9A-F]{6}7F)$/;

function hostOf(hex: string): string {
  if (hex.length > 8) return hex;
  const bytes = hex.match(/../g)!.toReversed();
  return bytes.map((byte) => Number.parseInt(byte, 16)).join('.');
}

function socketsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => inodeOf(`/proc/${pid}/fd/${fd}`));
  } catch {
    return []; // It ended meanwhile.
  }
}

function inodeOf(path: string): string[] {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(path))?.slice(1) ?? [];
  } catch {
    return []; // It was closed meanwhile.
  }
}
