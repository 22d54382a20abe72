// A recorded history as a file: one event a line, without a word on who recorded it and where. The store
// of all of them: a folder for each release, and what workflow each is of.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

const ROOT = join(import.meta.dirname, '../..');

export interface RecordedHistory {
  /** `0.1.0/rollout-never-right` */
  readonly name: string;
  readonly workflow: 'rollout' | 'collection' | 'updateWeights' | 'feed' | 'describeEnvironment';
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
      const workflow = /\/rollout-/.test(file)
        ? 'rollout'
        : /\/weights-/.test(file)
          ? 'updateWeights'
          : /\/feed-/.test(file)
            ? 'feed'
            : /\/described-/.test(file)
              ? 'describeEnvironment'
              : 'collection';
      return { name: file.replace(/\.json$/, ''), workflow, bytes: text.length, history };
    });
}

/** In whatever release. */
export function isRecorded(name: string): boolean {
  return readdirSync(import.meta.dirname, { withFileTypes: true }).some(
    (entry) => entry.isDirectory() && existsSync(fileOf(entry.name, name)),
  );
}

export function keepHistory(release: string, name: string, history: Parameters<typeof historyToJSON>[0]): void {
  const { events } = JSON.parse(historyToJSON(history)) as RecordedHistory['history'];
  const scrub = (key: string, value: unknown) => {
    if (/^(identity|name)$/.test(key) && `${value as string}`.includes('@')) return 'everturn';
    return key === 'stackTrace' ? `${value as string}`.replaceAll(`${ROOT}/`, '') : value;
  };
  const lines = events.map((event) => JSON.stringify(event, scrub));
  mkdirSync(join(import.meta.dirname, release), { recursive: true });
  writeFileSync(fileOf(release, name), `{"events":[\n${lines.join(',\n')}\n]}\n`);
}

const fileOf = (release: string, name: string) => join(import.meta.dirname, release, `${name}.json`);
