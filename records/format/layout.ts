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

export const ROLLOUT_FILE = 'rollout.json';
export const END_FILE = 'end.json';
const numbered = (word: string, turn: number, more = ''): string => `${word}-${padded('turn', turn)}${more}.json`;
/** An entry of the log of an agent's attempts. */
export const agentFile = (entry: number): string => numbered('agent', entry);
export const turnFile = (turn: number): string => numbered('turn', turn);
export const chunkFile = (turn: number, chunk: number): string =>
  numbered('turn', turn, `.chunk-${padded('chunk', chunk)}`);
/** A call of an agent's program, until it has its turn. */
export const askedFile = (turn: number): string => numbered('turn', turn, '.asked');
export const sayFile = (turn: number): string => numbered('say', turn);
export const verdictFile = (turn: number): string => numbered('verdict', turn);
/** A call of a tool, in the reply of a turn, has a file before a tool is called that must not be called twice, and one after any call. */
export const intentFile = (turn: number, call: number): string => numbered('intent', turn, `.${padded('call', call)}`);
export const callFile = (turn: number, call: number): string => numbered('call', turn, `.${padded('call', call)}`);

/** These values come through Temporal from any client: a text could lead out of the run's folder. */
function whole(what: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new UsageError(`\`${what}\` is ${JSON.stringify(value) ?? typeof value}, and names a file.`, {
    reason: 'not-allowed',
    fix: 'It takes a whole number.',
  });
}

const padded = (what: string, value: number): string => String(whole(what, value)).padStart(3, '0');

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

export type RolloutFile =
  | { readonly kind: 'rollout' | 'end' | 'harmless' | 'foreign' }
  | { readonly kind: 'agent'; readonly entry: number }
  | { readonly kind: 'turn' | 'asked' | 'verdict' | 'say'; readonly turn: number }
  | { readonly kind: 'chunk'; readonly turn: number; readonly chunk: number }
  | { readonly kind: 'call' | 'intent'; readonly turn: number; readonly call: number };

/** The name of a record's file; undefined where the record has no place. */
export function rolloutFile(
  kind: string,
  { turn, chunk, call, entry }: { readonly [name in 'turn' | 'chunk' | 'call' | 'entry']?: unknown },
): string | undefined {
  if (kind === 'rollout') return ROLLOUT_FILE;
  if (kind === 'end') return END_FILE;
  if (kind === 'agent') return isPlace(entry) ? agentFile(entry) : undefined;
  if (!isPlace(turn)) return undefined;
  if (kind === 'turn') return turnFile(turn);
  if (kind === 'verdict') return verdictFile(turn);
  if (kind === 'asked') return askedFile(turn);
  if (kind === 'say' && turn > 1) return sayFile(turn);
  if (kind === 'intent' && isPlace(call)) return intentFile(turn, call);
  if (kind === 'call' && isPlace(call)) return callFile(turn, call);
  return kind === 'chunk' && isPlace(chunk) ? chunkFile(turn, chunk) : undefined;
}

const isPlace = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

const RECORD_NAME = /^([a-z]+)(?:-(\d{3,9})(?:\.(asked)|\.(chunk)?-?(\d{3,9}))?)?\.json$/;

/** The kind of a file in a rollout's folder, by its name. */
export function parseRolloutFile(name: string): RolloutFile {
  if (isHarmless(name)) return { kind: 'harmless' };
  const [, word = '', number, asked, chunk, part] = RECORD_NAME.exec(name) ?? [];
  const kind = asked ?? chunk ?? word;
  const place = { [word === 'agent' ? 'entry' : 'turn']: Number(number), [chunk ? 'chunk' : 'call']: Number(part) };
  if (rolloutFile(kind, place) !== name) return { kind: 'foreign' };
  const given = Object.entries(place).filter(([, value]) => isPlace(value));
  return { kind, ...Object.fromEntries(given) } as RolloutFile;
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
