// The path of each record in a run's folder, and the names that may occur there. Pure. A name is derived from ids
// alone, so a writer needs no search and a check recognises foreign files.

import { UsageError } from '../../domain/errors/errors.ts';
import { isRunName, safeName, shardOf, type RolloutId } from '../../domain/names/ids.ts';

export const RUN_FILE = 'run.json';
export const RESULT_FILE = 'result.json';
export const QUERIES_FILE = 'queries.jsonl';
export const INDEX_FILE = 'queries.index';
/** Rollouts in flight, as files, and ended ones, as lines. */
export const ROLLOUTS = 'rollouts';
export const ENDED = 'ended';
export const ANSWERS = 'answers';
export const JUDGEMENTS = 'judgements';
export const WEIGHTS = 'weights';

export const CODE = 'code';
/** `code/<sha256>.cjs`: an environment that is a module, as environments/processes/bundle.ts makes it. */
export const codeFile = (sha256: string): string => `${CODE}/${sha256}.cjs`;

/** These values come through Temporal from any client: a text could lead out of the run's folder. */
export function whole(what: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new UsageError(`\`${what}\` is ${JSON.stringify(value) ?? typeof value}, and names a file.`, {
    reason: 'not-allowed',
    fix: 'It takes a whole number.',
  });
}

/** `rollouts/<2 hex>/<safe name of the query>` */
export function queryFolder(query: string): string {
  if (typeof query !== 'string') {
    throw new UsageError('`query` is not a text, and names a folder.', {
      reason: 'not-allowed',
      fix: 'It takes a text.',
    });
  }
  const known = folders.get(query);
  if (known !== undefined) return known;
  const name = safeName(query);
  const folder = `${ROLLOUTS}/${shardOf(name)}/${name}`;
  if (folders.size >= MOST_FOLDERS) folders.clear();
  folders.set(query, folder);
  return folder;
}

/** Each record of a rollout asks for its folder, whose name takes one or two hashes. */
const folders = new Map<string, string>();
const MOST_FOLDERS = 4096;

/** `<query's folder>/<sample>.<attempt>` */
export function rolloutFolder(id: Pick<RolloutId, 'query' | 'sample' | 'attempt'>): string {
  return `${queryFolder(id.query)}/${whole('sample', id.sample)}.${whole('attempt', id.attempt)}`;
}

/** In a bucket: `ended/<2 hex>/<safe name of the query>/<sample>.<attempt>.json` */
export const endedObject = (id: Pick<RolloutId, 'query' | 'sample' | 'attempt'>): string =>
  `${ENDED}${rolloutFolder(id).slice(ROLLOUTS.length)}.json`;

const NUMBERED = /^(0|[1-9]\d{0,8})\.([1-9]\d{0,8})$/;

/** `3.1` is sample 3, attempt 1; undefined for any other name. */
export function parseRolloutFolder(name: string): { sample: number; attempt: number } | undefined {
  const found = NUMBERED.exec(name);
  return found ? { sample: Number(found[1]), attempt: Number(found[2]) } : undefined;
}

export const LOG_KINDS = ['txt', 'jsonl'] as const;
export type LogKind = (typeof LOG_KINDS)[number];

/** `answers/<version>/<name>.<kind>` */
export function logPath(version: number, name: string, kind: LogKind): string {
  return `${ANSWERS}/${whole('version', version)}/${name}.${kind}`;
}

/** `judgements/<name>.jsonl` */
export const judgementsFile = (name: string): string => `${JUDGEMENTS}/${name}.jsonl`;
export const isJudgementsFile = (name: string): boolean =>
  name.endsWith('.jsonl') && isRunName(name.slice(0, -'.jsonl'.length));

export const STEERING = 'steering';
/** `steering/<act>-<32 hex>.json` */
export const steeringFile = (name: string): string => `${STEERING}/${name}.json`;
export const isActFile = (name: string): boolean => /^[a-z]+-[0-9a-f]{32}\.json$/.test(name);

/** `weights/<number>.json`: an update that was declared. */
export const weightsFile = (number: number): string => `${WEIGHTS}/${String(number).padStart(6, '0')}.json`;

export const FEED = 'feed';
const PER_FOLDER = 1000;

/** `feed/<thousands>/<number>.json`: an entry of the feed's ledger, numbered from 1. */
export function feedFile(number: number): string {
  const shard = String(Math.floor(whole('number', number) / PER_FOLDER)).padStart(6, '0');
  return `${FEED}/${shard}/${String(number).padStart(9, '0')}.json`;
}

/** The entry's number; undefined for any other name. */
export function parseFeedFile(path: string): number | undefined {
  const number = Number(/^feed\/\d{6}\/(\d{9})\.json$/.exec(path)?.[1] ?? 0);
  return number >= 1 && feedFile(number) === path ? number : undefined;
}

/** Temporary files and those that file managers create: readers and checks ignore them. */
export const isHarmless = (name: string): boolean => name.startsWith('.');

/** The rollout folder that a log's file name belongs to; undefined for any other name. */
export function folderOfLog(name: string): string | undefined {
  const found = /^([^@]+)(?:@(\d+)(?:\.(\d+))?)?\.(?:txt|jsonl)$/.exec(name);
  if (!found) return undefined;
  const [, query, sample = '0', attempt = '1'] = found;
  return `${ROLLOUTS}/${shardOf(query!)}/${query}/${sample}.${attempt}`;
}
