// The world around a run with tools, for its chaos test: a shop outside that counts every call by its key, the processes
// that workers started for environments and tools, found by what Linux says, and who kills them.

import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { allPids, childrenOf, commandOf, descendants, isPidAlive, procFile } from '../support/processes.ts';
import { listenHttp } from '../support/http-listener.ts';
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
  const server = await listenHttp((request, response) => {
    const tool = request.url === '/' ? 'order' : request.url!.slice(1);
    calls.push(`${tool} ${String(request.headers['idempotency-key'])}`);
    const counts = tool !== 'book';
    if (counts) open++;
    response.once('close', () => counts && open--);
    setTimeout(() => response.end('ok'), 20 + 200 * random());
  });
  return { url: server.url, calls, open: () => open, close: server.close };
}

export const VICTIMS = ['worker', 'host', 'tools', 'server', 'shell'] as const;
export type VictimKind = (typeof VICTIMS)[number];

interface Victim {
  readonly kind: VictimKind;
  readonly pid: number;
}

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
export const withVariable = (name: string, value: string): number[] =>
  allPids().filter((pid) => isPidAlive(pid) && procFile(pid, 'environ').split('\0').includes(`${name}=${value}`));

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
  // By their variable: a number may be another process's by now.
  const alive = new Set(withVariable('ENVIRONMENT_SESSIONS', file));
  return [...open].filter((session) => alive.has(Number(session.split(' ')[0])));
}
