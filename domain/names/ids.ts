// Identity follows from content: workflow ids, file names and seeds are derived from run, query, sample and turn.
// Guarantees: two different ids never share a name, also on file systems that fold case; no name leaves
// its folder or is longer than 100 bytes.

import { sha256Hex } from '../text/sha256.ts';

/** Names one attempt at one sample of one query. `attempt` is 1-based. */
export interface RolloutId {
  readonly run: string;
  readonly query: string;
  readonly sample: number;
  readonly attempt: number;
}

/** The place of a trajectory's records: enough to find them without Temporal. */
export interface TrajectoryReference extends RolloutId {
  /** The folder of runs. */
  readonly out: string;
}

const PLAIN = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/;
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/;

/** A file name for any text: itself if that is safe everywhere, else a readable slug, `~` and 128 bits of SHA-256. */
export function safeName(text: string): string {
  if (PLAIN.test(text) && !RESERVED.test(text)) return text;
  const slug = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
    .replace(/-+$/, '');
  return `${slug}~${sha256Hex(text).slice(0, 32)}`;
}

/** The two-character folder that spreads names evenly: 256 shards. */
export function shardOf(name: string): string {
  return sha256Hex(name).slice(0, 2);
}

const RUN_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?$/;

export const RUN_NAME_RULE =
  'Use letters, digits, `.`, `_` and `-`, at most 100 of them: the first and the last a letter or digit, no `..`, and no name of a device as `con`.';

/** A run's name is the name of its folder and of its workflow. */
export function isRunName(name: string): boolean {
  return RUN_NAME.test(name) && !RESERVED.test(name.toLowerCase()) && !name.includes('..');
}

/** `<run>/<query>/<sample>`; an unusual query id becomes its safe name. A later attempt adds `/retry-<attempt>`. */
export function rolloutWorkflowId(id: RolloutId): string {
  const odd = id.query.length > 200 || /[~\p{C}\p{Z}]/u.test(id.query);
  const base = `${id.run}/${odd ? safeName(id.query) : id.query}/${id.sample}`;
  return id.attempt > 1 ? `${base}/retry-${id.attempt}` : base;
}

/** The workflow id of a run's feed: no rollout has it, because theirs have a third part. */
export function feedWorkflowId(run: string): string {
  return `${run}/feed`;
}

/** The workflow id of a block of a large run (domain/run/blocks.ts): no run's name has a `~`. */
export function blockWorkflowId(run: string, block: string): string {
  return `${run}~${block}`;
}

/**
 * Seed of one turn's random stream: 52 bits of SHA-256 over run seed, query, sample and turn. An agent's call has its id in
 * place of the turn's number: calls side by side may come in any order.
 */
export function turnSeed(runSeed: number, query: string, sample: number, turn: number | string): number {
  return Number.parseInt(sha256Hex(JSON.stringify([runSeed, query, sample, turn])).slice(0, 13), 16);
}
