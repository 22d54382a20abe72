// The world around a run with tools, for its chaos test: a shop outside that counts every call by its key, the processes
// that workers started for environments and tools, found by what Linux says, and who kills them.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf, descendants, isPidAlive } from '../support/processes.ts';
import type { Random } from './seed.ts';

export interface Shop {
  readonly url: string;
  /** Every call that arrived, in order: `<tool> <key>`. */
  readonly calls: readonly string[];
  /** Calls of tools that must not be called twice, in progress. */
  readonly open: () => number;
  close(): void;
}

/** Takes its time, so that a kill comes between a call and its record. */
export async function openShop(random: Random): Promise<Shop> {
  const calls: string[] = [];
  let open = 0;
  const server = createServer((request, response) => {
    const tool = request.url === '/' ? 'order' : request.url!.slice(1);
    calls.push(`${tool} ${String(request.headers['idempotency-key'])}`);
    const counts = tool !== 'book';
    if (counts) open++;
    response.once('close', () => counts && open--);
    setTimeout(() => response.end('ok'), 20 + 200 * random());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    open: () => open,
    close: () => void server.close().closeAllConnections(),
  };
}

export const VICTIMS = ['worker', 'host', 'tools', 'server', 'shell'] as const;
export type VictimKind = (typeof VICTIMS)[number];

interface Victim {
  readonly kind: VictimKind;
  readonly pid: number;
}

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
};

/** The processes that these workers started for environments and tools. */
export function victimsOf(workers: readonly number[]): Victim[] {
  const children = workers.flatMap((worker) => [
    ...childrenOf(worker).map((pid) => ({ pid, isFirst: true })),
    ...descendants(worker).map((pid) => ({ pid, isFirst: false })),
  ]);
  const found = children.flatMap(({ pid, isFirst }): Victim[] => {
    const command = commandOf(pid);
    // The shell that leads the group of a process of a user's; the watcher of its pipe is below it.
    if (command.startsWith('/bin/sh ')) return isFirst ? [{ kind: 'shell', pid }] : [];
    if (isFirst) return [];
    if (command.includes('/guess.py ')) return [{ kind: 'host', pid }];
    if (command.includes('/tool-server.mjs')) return [{ kind: 'server', pid }];
    return command.includes('/tools/module-child') ? [{ kind: 'tools', pid }] : [];
  });
  return [...workers.map((pid): Victim => ({ kind: 'worker', pid })), ...found];
}

/** Processes anywhere on this machine that got that variable. */
export function withVariable(name: string, value: string): number[] {
  return readdirSync('/proc').flatMap((entry) => {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || !isPidAlive(pid)) return [];
    try {
      const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      return variables.includes(`${name}=${value}`) ? [pid] : [];
    } catch {
      return []; // It ended, or is another user's.
    }
  });
}

export interface KillPlan {
  readonly random: Random;
  readonly kills: number;
  readonly workers: () => readonly number[];
  /** The share of the work that is done, 0 to 1: kills are spread over it. */
  readonly done: () => number;
  readonly over: () => boolean;
  /** True at a moment that is worth a kill. */
  readonly moment: () => boolean;
}

/** kill -9 of processes of each kind, spread over the whole run. */
export async function killAll(plan: KillPlan): Promise<Record<VictimKind, number>> {
  const { random, kills, workers, done, over, moment } = plan;
  const killed: Record<VictimKind, number> = { worker: 0, host: 0, tools: 0, server: 0, shell: 0 };
  let count = 0;
  const until = async (met: () => boolean, tries: number) => {
    for (let n = 0; n < tries && !met() && !over(); n++) await sleep(5);
  };
  while (count < kills && !over()) {
    await until(() => done() >= (count / kills) * 0.9, 200_000);
    await sleep(random() * 100);
    // Half of them while a call that must not come twice is in progress.
    if (random() < 0.5) await until(moment, 200);
    if (over()) break;
    const all = victimsOf(workers());
    const kinds = VICTIMS.filter((kind) => all.some((one) => one.kind === kind));
    const kind = kinds[Math.floor(random() * kinds.length)];
    const some = all.filter((one) => one.kind === kind);
    const victim = some[Math.floor(random() * some.length)];
    if (!victim) continue;
    try {
      process.kill(victim.pid, 'SIGKILL');
    } catch {
      continue; // It had ended.
    }
    killed[victim.kind]++;
    count++;
    while (isPidAlive(victim.pid)) await sleep(2);
  }
  return killed;
}

/** Sessions that processes which still live have begun and not ended, from the file that guess.py writes. */
export function sessionsLeft(file: string): string[] {
  const open = new Set<string>();
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  for (const line of text.split('\n')) {
    const [pid, what, key] = line.split(' ');
    if (what === 'begin') open.add(`${pid} ${key}`);
    else if (what === 'end') open.delete(`${pid} ${key}`);
  }
  return [...open].filter((session) => isPidAlive(Number(session.split(' ')[0])));
}
