// The settings that were given for a run, and facts of its record, as texts.

import type { Setting } from './model/messages.ts';
import type { OpenRun } from './runs.ts';

/** Without those that have their default. */
export function settingsOf({ record }: OpenRun): Setting[] {
  return Object.entries(record.settings)
    .map(([name, value]) => ({ name, value: shown(value), origin: record.origins[name] ?? 'default' }))
    .filter(({ origin }) => origin !== 'default');
}

export function factsOf({ record, total }: OpenRun): [string, string][] {
  const { dataset, versions, settings } = record;
  return [
    ['rollouts', String(total)],
    ...(dataset
      ? ([
          ['rows accepted', String(dataset.accepted)],
          ['rows refused', String(dataset.refused)],
          ['data set SHA-256', dataset.sha256],
        ] as [string, string][])
      : []),
    ['seed', String(settings.seed)],
    ['Everturn', versions.everturn],
    ['Node', versions.node],
  ];
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
