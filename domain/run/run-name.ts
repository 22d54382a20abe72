// The name of a run that was given none: the data set's file name and a hash of data and settings, so that the same
// command finds the same run again.

import { safeName } from '../names/ids.ts';
import type { RolloutSettings } from '../rollout/settings.ts';
import { sha256Hex } from '../text/sha256.ts';
import { titleOfDataset } from './hub-source.ts';

/** `offered`: SHA-256 of the rows before solutions were read. `settings`: without a seed that follows from the name. */
export function derivedRunName(
  dataset: string,
  offered: string,
  settings: Partial<RolloutSettings>,
  samples: number,
  parts: object = {},
): string {
  // A list without an entry says nothing.
  const entries = sortedEntries(settings).filter(
    ([key, value]) => key !== 'serverLimits' || sortedEntries(value as object).length > 0,
  );
  return `${stemOfRuns(dataset)}${sha256Hex(JSON.stringify([offered, entries, samples, ...sortedEntries(parts)])).slice(0, 8)}`;
}

/** What a data set is called in the names of its runs. */
export const nameOfRows = ({ path, benchmark }: { readonly path: string; readonly benchmark?: string }): string =>
  benchmark ?? path;

/** What the names of all runs of a data set begin with. */
export function stemOfRuns(dataset: string): string {
  const title = titleOfDataset(dataset).replaceAll('/default/', '/').replaceAll('/', '-');
  const slug = safeName(title.replace(/\.[a-z]+$/i, ''))
    .replace(/~.*/, '')
    .slice(0, 40);
  return `${slug || 'run'}-`;
}

function sortedEntries(object: object): [string, unknown][] {
  return Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
}
