// The examples for Kubernetes and Slurm say what this version understands. Their own form is checked by the schemas of
// Kubernetes and KEDA, which are not here (docs/cluster.md).

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { GENERATE_QUEUE } from '../../domain/queues.ts';
import { DEFAULT_SLOTS } from '../../worker-settings.ts';

const read = (file: string) => readFileSync(join(import.meta.dirname, '../../examples', file), 'utf8');
const DEPLOYMENT = read('kubernetes/worker.yaml');
const KEDA = read('kubernetes/keda.yaml');
const SLURM = read('slurm/workers.sbatch');
/** What a cancelled generation has after the drain time, with room to spare: docs/cluster.md. */
const AFTER_DRAIN_S = 10;

const args = /args: \[(.*)\]/
  .exec(DEPLOYMENT)![1]!
  .split(', ')
  .map((arg) => arg.replaceAll("'", ''));
const after = (flag: string) => args[args.indexOf(flag) + 1]!;
const number = (text: string, pattern: RegExp) => Number(pattern.exec(text)?.[1]);

describe('the examples for clusters', () => {
  test('start a worker with options that it has', () => {
    // Its text: the command itself loads a worker.
    const command = readFileSync(join(import.meta.dirname, '../../cli/commands/worker.ts'), 'utf8');
    const known = new Set([...command.matchAll(/'(--[a-z-]+)[ ']/g)].map(([, flag]) => flag));
    const used = [...args, ...(/everturn worker (.*)/.exec(SLURM)?.[1] ?? '').split(' ')];
    const flags = used.filter((arg) => arg.startsWith('--'));
    expect(args[0]).toBe('worker');
    expect(flags.length).toBeGreaterThan(5);
    expect(flags.filter((flag) => !known.has(flag))).toEqual([]);
  });

  test('leave a worker its drain time', () => {
    const grace = number(DEPLOYMENT, /terminationGracePeriodSeconds: (\d+)/);
    expect(grace).toBeGreaterThanOrEqual(Number(after('--drain-seconds')) + AFTER_DRAIN_S);
    const signal = number(SLURM, /--signal=B:TERM@(\d+)/);
    expect(signal).toBeGreaterThanOrEqual(number(SLURM, /--drain-seconds (\d+)/) + AFTER_DRAIN_S);
    expect(number(KEDA, /cooldownPeriod: (\d+)/)).toBeGreaterThan(Number(after('--drain-seconds')));
  });

  test('probe the port that the worker serves, at the paths that it has', () => {
    expect(number(DEPLOYMENT, /containerPort: (\d+)/)).toBe(Number(after('--health-port')));
    expect([...DEPLOYMENT.matchAll(/path: (\S+), port: health/g)].map(([, path]) => path)).toEqual(['/ready', '/live']);
  });

  test('scale by the queue of the generations, a worker for as many as it takes at once', () => {
    expect(/taskQueue: (\S+)/.exec(KEDA)?.[1]).toBe(GENERATE_QUEUE);
    expect(number(KEDA, /\btargetQueueSize: '(\d+)'/)).toBe(Number(after('--slots')));
    expect(after('--slots')).toBe(String(DEFAULT_SLOTS));
    expect(/scaleTargetRef: { name: (\S+) }/.exec(KEDA)?.[1]).toBe(/name: (\S+)/.exec(DEPLOYMENT)?.[1]);
  });
});
