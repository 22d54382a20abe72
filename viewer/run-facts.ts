// The settings that were given for a run, facts of its record, and its servers, as texts.

import type { ServerStatus } from '../domain/run/server-status.ts';
import { settingsWithOrigins } from '../records/format/run-record.ts';
import { FLEET, readFleet, STALE_MS } from '../records/run/fleet-status.ts';
import { rolloutFolder } from '../records/format/layout.ts';
import type { RunMessage, Setting } from './model/messages.ts';
import { latest, rowPlace } from './model/row.ts';
import { mustBePlain } from './plain-files.ts';
import type { OpenRun } from './runs.ts';

/** Those that were given come before the ones that have their default. */
export function listSettings({ record }: OpenRun): Setting[] {
  return settingsWithOrigins(record)
    .map((setting) => ({ ...setting, value: shown(setting.value) }))
    .sort((a, b) => Number(a.origin === 'default') - Number(b.origin === 'default'));
}

/** The message of the first rollout whose last attempt failed, or else could not be judged. */
export async function findFailure({ run, store, index }: OpenRun): Promise<Pick<RunMessage, 'failure'>> {
  const rows = latest(index.rows());
  const row = rows.find(({ state }) => state === 'failed') ?? rows.find(({ state }) => state === 'undecided');
  if (!row) return {};
  const place = rowPlace(row);
  mustBePlain(store.folder, rolloutFolder(place));
  const id = { run, ...place };
  // The list says which record is damaged.
  const end = await store.get('end', id).catch(() => undefined);
  const judged =
    row.state === 'undecided' && (await store.get('verdict', id, row.turns.ms.length).catch(() => undefined));
  const message = end?.record.failure?.message ?? (judged ? judged.record.note : undefined);
  return message === undefined ? {} : { failure: { place, message } };
}

export function listFacts({ record: { dataset, versions, settings }, total }: OpenRun): [string, string][] {
  const facts: Readonly<Record<string, unknown>> = {
    rollouts: total,
    'rows accepted': dataset?.accepted,
    'rows refused': dataset?.refused,
    'rows, as its page says': dataset?.pageSize && `${dataset.pageSize.said}; there are ${dataset.pageSize.rows}`,
    'data set SHA-256': dataset?.sha256,
    'data set commit': dataset?.hub?.commit,
    tools: settings.tools?.list.map(({ name }) => name).join(', '),
    ...{ seed: settings.seed, Everturn: versions.everturn, Node: versions.node },
  };
  return Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
}

/** Null for a run that is no fork. */
export function describeFork({ record: { forkedFrom: from } }: OpenRun): string | null {
  if (!from) return null;
  const message = from.said === null ? '' : `, with a message of ${from.by}`;
  return (
    `A fork of ${from.run}: ${from.query}, sample ${from.sample}, from turn ${from.turn} on${message}. ` +
    'A person chose its beginning, so its numbers are not those of the model alone.'
  );
}

export function readServers({ store }: OpenRun, now: number): Promise<readonly ServerStatus[]> {
  mustBePlain(store.folder, FLEET);
  return readFleet(store.folder, now - STALE_MS).then(
    (found) => found.slice(0, MOST_SERVERS),
    () => [],
  );
}

const MOST_SERVERS = 200;
const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
