// A run's records against what its servers themselves wrote down: which weights made which token.

import type { Store } from '../../records/store.ts';
import { readTrajectories } from '../../records/reading/trajectories.ts';
import type { Engine } from './toy-engine.ts';

/** Each token of the run against the servers' log: by the ids before it, itself, and its logprob to the last bit. */
export async function compareWeights(
  store: Store,
  engines: readonly Pick<Engine, 'log'>[],
  numberOf: (label: string) => number,
) {
  const made = new Map<string, Set<string>>();
  const key = (context: readonly number[], id: number, logprob: number) => `${context.join()}|${id}|${logprob}`;
  for (const { log } of engines) {
    for (const { context, outputs, weights } of log) {
      const ids = [...context];
      for (const [i, { id, logprob }] of outputs.entries()) {
        const name = key(ids, id, logprob);
        made.set(name, (made.get(name) ?? new Set()).add(weights[i]!));
        ids.push(id);
      }
    }
  }
  const found = { rollouts: 0, tokens: 0, wrong: 0, unknown: 0, movedTurns: 0, versions: 0 };
  const versionsSeen = new Set<string>();
  for await (const { turns } of readTrajectories(store)) {
    found.rollouts++;
    const ids: number[] = [];
    for (const { record } of turns) {
      ids.push(...record.contextIds);
      if (record.versions.length > 1) found.movedTurns++;
      for (const { versionLabel, version, start, end } of record.versions) {
        versionsSeen.add(versionLabel!);
        if (version !== numberOf(versionLabel!)) found.wrong++;
        for (let i = start; i < end; i++) {
          found.tokens++;
          const by = made.get(key(ids, record.outputIds[i]!, record.logprobs[i]!));
          if (!by) found.unknown++;
          else if (!by.has(versionLabel!)) found.wrong++;
          ids.push(record.outputIds[i]!);
        }
      }
    }
  }
  return { ...found, versions: versionsSeen.size };
}
