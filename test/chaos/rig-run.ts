// A collection on the tests' own rig (workers in this process, a scripted model, a real server) for the chaos tests
// that need no kill; and what must be true of it afterwards: `check` of its folder, and against Temporal's histories.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Session } from '../../client/temporal/connection.ts';
import { areal } from '../../formats/exports/areal.ts';
import { checkRun, type CheckSummary } from '../../records/check/check.ts';
import { openFileStore } from '../../records/file-store.ts';
import type { CollectionInput } from '../../domain/run/messages.ts';
import type { Rig } from '../support/rig.ts';
import { historyProblems } from './rig-histories.ts';

export interface RigRun extends Omit<CollectionInput, 'run' | 'out' | 'dataset'> {
  readonly run: string;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

export function startRun(rig: Rig, { run, rows, ...input }: RigRun) {
  const dataset = join(rig.out, `${run}.jsonl`);
  writeFileSync(dataset, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return rig.client.workflow.start('collection', {
    workflowId: run,
    taskQueue: 'everturn',
    memo: { out: rig.out },
    args: [{ run, out: rig.out, dataset, ...input } satisfies CollectionInput],
  });
}

export function sums(count: number): { id: string; question: string; answer: string }[] {
  return Array.from({ length: count }, (_, i) => ({
    id: `q${i}`,
    question: `What is ${i} + 1?`,
    answer: String(i + 1),
  }));
}

export function sessionOf(rig: Rig): Session {
  return { client: rig.client, address: '', namespace: rig.namespace, close: async () => {} };
}

export interface Proved {
  /** `path: problem`, and what a history denies; nothing in an honest run. */
  readonly breaches: readonly string[];
  readonly summary: CheckSummary;
  /** Workflows of rollouts that have a history. */
  readonly told: number;
}

export async function prove(rig: Rig, run: string): Promise<Proved> {
  const store = openFileStore(rig.out, run);
  const breaches: string[] = [];
  const note = ({ path, problem }: { path: string; problem: string }) => breaches.push(`${path}: ${problem}`);
  const summary = await checkRun(store, note, { export: { exporter: areal } });
  const { problems, told } = await historyProblems(rig, store, run);
  return { breaches: [...breaches, ...problems], summary, told };
}
