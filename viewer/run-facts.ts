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
    ...(settings.tools ? [['tools', settings.tools.list.map(({ name }) => name).join(', ')] as [string, string]] : []),
    ['seed', String(settings.seed)],
    ['Everturn', versions.everturn],
    ['Node', versions.node],
  ];
}

/** Null for a run that is no fork. */
export function forkOf({ record: { forkedFrom: from } }: OpenRun): string | null {
  if (!from) return null;
  const message = from.said === null ? '' : `, with a message of ${from.by}`;
  return (
    `A fork of ${from.run}: ${from.query}, sample ${from.sample}, from turn ${from.turn} on${message}. ` +
    'A person chose its beginning, so its numbers are not those of the model alone.'
  );
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
