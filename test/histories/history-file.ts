// A recorded history as a file: one event a line, without a word on who recorded it and where. The store
// of all of them: a folder for each release.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

const ROOT = join(import.meta.dirname, '../..');
/** The folder of new histories: Everturn's version; with a patch since, `0.1.0+` and its name. */
const RELEASE = '0.1.0';

export interface RecordedHistory {
  /** `0.1.0/rollout-never-right` */
  readonly name: string;
  readonly bytes: number;
  readonly history: { readonly events: readonly object[] };
}

export function recordedHistories(): RecordedHistory[] {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => {
      const text = readFileSync(join(import.meta.dirname, file), 'utf8');
      const history = JSON.parse(text) as RecordedHistory['history'];
      return { name: file.replace(/\.json$/, ''), bytes: text.length, history };
    });
}

/** Keeps the history of a workflow that a test has played, where `npm run record-histories` asks and no release has one of that name. */
export async function recordHistory(
  client: Client,
  name: string,
  { workflowId, runId }: { readonly workflowId: string; readonly runId?: string },
): Promise<void> {
  const releases = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const isRecorded = releases.some((release) => existsSync(fileOf(release.name, name)));
  if (process.env['EVERTURN_RECORD'] !== 'histories' || isRecorded) return;
  const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const { events } = JSON.parse(historyToJSON(history)) as RecordedHistory['history'];
  const scrub = (key: string, value: unknown) => {
    if (/^(identity|name)$/.test(key) && `${value as string}`.includes('@')) return 'everturn';
    return key === 'stackTrace' ? `${value as string}`.replaceAll(`${ROOT}/`, '') : value;
  };
  const lines = events.map((event) => JSON.stringify(event, scrub));
  mkdirSync(join(import.meta.dirname, RELEASE), { recursive: true });
  writeFileSync(fileOf(RELEASE, name), `{"events":[\n${lines.join(',\n')}\n]}\n`);
}

const fileOf = (release: string, name: string) => join(import.meta.dirname, release, `${name}.json`);
