// The run whose weights change, as each step of an update reads it; and the refusals of what a step's input names.

import { UsageError } from '../domain/errors/errors.ts';
import type { WeightsLedger } from '../domain/weights/weight-parts.ts';
import type { DeclaredWeights } from '../domain/weights/weights.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import type { ActivityDeps } from './deps.ts';

export interface UpdatedRun {
  readonly settings: RolloutSettings;
  readonly folder: string;
  readonly ledger: WeightsLedger;
}

export async function readUpdatedRun(
  { openStore, weights }: Pick<ActivityDeps, 'openStore' | 'weights'>,
  { out, run }: { readonly out: string; readonly run: string },
): Promise<UpdatedRun> {
  const store = openStore(out, run);
  const record = (await store.getRun())?.record;
  if (record) return { settings: record.settings, folder: store.folder, ledger: weights.ledger(store.folder) };
  throw new UsageError(`There is no run "${run}" in ${out}.`, {
    reason: 'no-such-run',
    fix: 'New weights are for a run that has begun.',
  });
}

export function mustBeServers(
  named: unknown,
  known: readonly string[],
  run: string,
): asserts named is readonly string[] {
  const urls = Array.isArray(named) ? (named as readonly unknown[]) : [named];
  const foreign = urls.find((url) => typeof url !== 'string' || !known.includes(url));
  if (foreign === undefined && urls.length > 0) return;
  throw new UsageError(
    `\`servers\` names ${(JSON.stringify(foreign) ?? 'none').slice(0, 200)}, no server of run "${run}".`,
    {
      reason: 'not-allowed',
      fix: `There are ${known.join(', ')}.`,
    },
  );
}

/** A number that comes from elsewhere names no file. */
export function findUpdate(entries: readonly DeclaredWeights[], run: string, number: number): DeclaredWeights {
  const entry = entries.find((each) => each.number === number);
  if (entry) return entry;
  throw new UsageError(`Run "${run}" has no update ${String(number).slice(0, 20)}.`, {
    reason: 'not-allowed',
    fix: 'A step belongs to an update that was declared.',
  });
}
