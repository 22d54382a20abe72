// The held-out evaluations of a training run as numbers by version, from the runs that they are. Of several evaluations of
// one version counts the one of the newest line of weights. One that has ended is read once.

import { isOnDisk, join } from '../records/place.ts';
import { evaluationsFolder } from '../domain/run/evaluation.ts';
import { isRunName } from '../domain/names/ids.ts';
import { openFileStore } from '../records/file-store.ts';
import { readSummaries } from '../records/reading/trajectories.ts';
import { meanOf } from '../domain/statistics/mean.ts';
import { known } from '../domain/statistics/outcomes.ts';
import { headlineOf } from '../domain/statistics/headline.ts';
import { runStatistics } from '../domain/statistics/run-statistics.ts';
import type { Evaluation } from './model/messages.ts';
import { realFoldersIn } from './plain-files.ts';
import { namesIn } from '../records/places/files.ts';

export type EvaluationsOf = (runFolder: string) => Promise<readonly Evaluation[]>;

export function openEvaluations(): EvaluationsOf {
  const ended = new Map<string, Read>();
  return async (runFolder) => {
    const folder = evaluationsFolder(runFolder);
    const names = isOnDisk(folder) ? realFoldersIn(folder) : await namesIn(folder);
    const newest = new Map<number, Read>();
    for (const name of names.filter(isRunName)) {
      const key = join(folder, name);
      const read = ended.get(key) ?? (await evaluationIn(folder, name));
      if (!read) continue;
      if (read.evaluation.state !== 'open') ended.set(key, read);
      const { version } = read.evaluation;
      if ((newest.get(version)?.line ?? -1) < read.line) newest.set(version, read);
    }
    return [...newest.values()].map(({ evaluation }) => evaluation).sort((a, b) => a.version - b.version);
  };
}

interface Read {
  readonly evaluation: Evaluation;
  readonly line: number;
}

async function evaluationIn(out: string, run: string): Promise<Read | undefined> {
  const store = openFileStore(out, run);
  const record = (await store.get('run'))?.record;
  if (!record?.evaluates || !record.dataset) return undefined;
  const { evaluates, samples, settings, dataset } = record;
  const { version, line } = evaluates;
  const total = dataset.accepted * samples;
  const result = (await store.get('result'))?.record;
  const open = { run, version, total, state: 'open', right: null, interval: null } as const;
  if (!result) {
    const ended = new Set<string>();
    for await (const { query, sample } of store.listRows()) ended.add(JSON.stringify([query, sample]));
    const none = { meanReturn: null, tokens: null, answeredBy: null };
    return { line, evaluation: { ...open, rollouts: ended.size, ...none } };
  }
  const rollouts = [];
  for await (const summary of readSummaries(store)) rollouts.push(summary);
  const { numTurns, stop } = settings;
  const shape = { queries: dataset.accepted, samples, epochs: 1, numTurns, stop };
  const statistics = runStatistics(rollouts, shape, { ks: [1], atTurn: numTurns });
  const { any, meanReturn } = headlineOf(statistics);
  const turns = rollouts.flatMap((rollout) => rollout.turns);
  const versions = turns.flatMap(({ versionStart, versionEnd }) => [versionStart, versionEnd]);
  return {
    line,
    evaluation: {
      ...{ run, version, total, state: result.cancelled ? 'cancelled' : 'ended', rollouts: statistics.ended },
      ...{ right: any.value, interval: any.interval, meanReturn: meanReturn.value },
      tokens: meanOf(known(turns.map(({ outputTokens }) => outputTokens))).value,
      answeredBy: versions.length === 0 ? null : [versions.reduce(min), versions.reduce(max)],
    },
  };
}

const min = (a: number, b: number): number => Math.min(a, b);
const max = (a: number, b: number): number => Math.max(a, b);
