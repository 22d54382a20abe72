// The summaries of a run's rollouts, read from its folder: of each sample the last attempt, in data set order. Memory:
// one query's; the texts and ids of a turn are not parsed. For display: hashes of ends and verdicts are checked, those
// of turns only if logprobs are asked for. `check` proves, exports read whole records.

import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { setImmediate as breath } from 'node:timers/promises';
import { ofAnswers, successOf } from '../domain/ending.ts';
import type { RolloutId } from '../domain/ids.ts';
import { callSummary, type RolloutSummary, type TurnSummary } from '../domain/rollout-summary.ts';
import type { EndRecord, RolloutRecord, VerdictRecord } from '../domain/trajectory.ts';
import { contextTokens, outputTokens, type TurnRecord } from '../domain/turn.ts';
import { codeOf, fileError } from './disk/errors.ts';
import { ahead, readAhead } from './ahead.ts';
import { basename, join } from './place.ts';
import * as layout from './record/layout.ts';
import { listRollouts } from './record/listing.ts';
import { decodeRecord, FORMATS, type Owner, type RecordKind } from './record/text.ts';
import type { Breach, Store } from './store.ts';

export interface SummaryOptions {
  /** `ends`: one small file a rollout, no turns. `logprobs`: whole turn records. Default `turns`. */
  readonly detail?: 'ends' | 'turns' | 'logprobs';
  /** Called for a rollout with a damaged record, which is left out. */
  readonly onBroken?: (breach: Breach) => void;
}

const PAGE = 256;
/** Blocking reads are three times as cheap as asynchronous ones; between batches others get the event loop. */
const BATCH_MS = 8;

export async function* readSummaries(store: Store, options: SummaryOptions = {}): AsyncGenerator<RolloutSummary> {
  let until = Date.now() + BATCH_MS;
  const rest = async () => {
    if (Date.now() < until) return;
    await breath();
    until = Date.now() + BATCH_MS;
  };
  const packs = await store.hasPacks();
  const run = basename(store.folder);
  const summaryOf = async ({ index, ...owner }: Owner & { readonly index: number | null }) =>
    readSummary(store, owner, index, options, packs ? await store.packedFiles({ run, ...owner }) : undefined);
  for await (const summary of ahead(placesOf(store, packs), readAhead(store.folder), summaryOf)) {
    if (summary) yield summary;
    await rest();
  }
}

/** The last attempt of each sample, in data set order; then those of rollouts that a client started directly. */
async function* placesOf(store: Store, packs: boolean): AsyncGenerator<Owner & { readonly index: number | null }> {
  const attempts = async (query: string) =>
    packs ? latest(await store.listRolloutsOf(query)) : lastAttempts(store.folder, layout.queryFolder(query));
  const seen = new Set<string>();
  const total = await store.countQueries();
  for (let from = 0; from < total; from += PAGE) {
    const page = await store.readQueries(from, PAGE);
    let index = from;
    const found = ahead(page, readAhead(store.folder), async ({ queryId: query }) => ({
      query,
      places: await attempts(query),
    }));
    for await (const { query, places } of found) {
      if (places.length > 0) seen.add(layout.queryFolder(query));
      for (const place of places) yield { query, ...place, index };
      index++;
    }
  }
  // They have no row in queries.jsonl.
  for await (const { query } of packs ? store.listRollouts(() => {}) : listRollouts(store.folder, '', () => {})) {
    const folder = layout.queryFolder(query);
    if (seen.has(folder)) continue;
    seen.add(folder);
    for (const place of await attempts(query)) yield { query, ...place, index: null };
  }
}

type Place = Pick<RolloutId, 'sample' | 'attempt'>;

function lastAttempts(root: string, folder: string): Place[] {
  return latest(namesIn(join(root, folder)).flatMap((name) => layout.parseRolloutFolder(name) ?? []));
}

function latest(places: readonly Place[]): Place[] {
  const last = new Map<number, number>();
  for (const { sample, attempt } of places) last.set(sample, Math.max(attempt, last.get(sample) ?? 0));
  return [...last].map(([sample, attempt]) => ({ sample, attempt })).sort((a, b) => a.sample - b.sample);
}

/** One rollout; undefined if it has not begun or a record of it is damaged. Blocks for a few small reads, unless `packed`. */
export function readSummary(
  { folder }: Pick<Store, 'folder'>,
  owner: Owner,
  index: number | null,
  options: SummaryOptions = {},
  packed?: ReadonlyMap<string, string>,
): RolloutSummary | undefined {
  const folderPath = join(folder, layout.rolloutFolder(owner));
  const loose: RolloutFiles = {
    text: (file) => readWhole(join(folderPath, file)),
    tail: (file) => tailOf(join(folderPath, file)),
    names: () => namesIn(folderPath),
  };
  return summaryOf(packed ? filesOfPack(packed) : loose, owner, index, options);
}

export function filesOfPack(packed: ReadonlyMap<string, string>): RolloutFiles {
  return { text: (file) => packed.get(file), tail: (file) => packed.get(file), names: () => [...packed.keys()] };
}

/** As readSummary, from files that the caller reads. */
export function summaryOf(
  path: RolloutFiles,
  owner: Owner,
  index: number | null,
  { detail = 'turns', onBroken }: SummaryOptions = {},
): RolloutSummary | undefined {
  try {
    const end = readRecord<EndRecord>('end', owner, path, layout.END_FILE);
    // Without an end, turns are found by name; a rollout that an end names needs no listing.
    const names = end ? null : path.names();
    if (names && !names.includes(layout.ROLLOUT_FILE)) return undefined;
    const count = end ? end.turns.length : finishedTurns(names!);
    const wanted = detail !== 'ends' || !end;
    const read = wanted ? Array.from({ length: count }, (_, i) => readTurn(owner, path, i + 1, detail)) : [];
    const turns = read.map(({ summary }) => summary);
    const said = end ? end.said !== undefined : read.some((turn) => turn.said);
    const called = end ? end.called : turns.flatMap(({ turn, verdict }) => (verdict === 'called' ? turn : []));
    const success = end?.success ?? turns.map(({ verdict }) => (verdict === null ? null : successOf(verdict)));
    return {
      ...owner,
      index,
      outcome: end?.outcome ?? null,
      stopReason: end?.stopReason ?? null,
      failure: end?.failure?.reason ?? null,
      success: ofAnswers(success, called),
      returns: ofAnswers(end?.rewards ?? [], called),
      turns: end ? withRewards(turns, end) : turns,
      finishedAt: end?.finishedAt ?? null,
      ...(said && { steered: 'message' }),
    };
  } catch (error) {
    if (!(error instanceof DamagedRecord)) throw error;
    onBroken?.({ path: join(layout.rolloutFolder(owner), error.file), problem: error.message });
    return undefined;
  }
}

/** Of one rollout, loose or packed. */
export interface RolloutFiles {
  readonly text: (file: string) => string | undefined;
  /** At least the first HEAD_BYTES and the last TAIL_BYTES. */
  readonly tail: (file: string) => string | undefined;
  readonly names: () => string[];
}

class DamagedRecord extends Error {
  readonly file: string;
  constructor(file: string, problem: string) {
    super(problem);
    this.file = file;
  }
}

/** Turns whose verdict is there too; a later one is still being judged. */
function finishedTurns(names: readonly string[]): number {
  let count = 0;
  while (names.includes(layout.turnFile(count + 1)) && names.includes(layout.verdictFile(count + 1))) count++;
  return count;
}

/** r_t of each judged turn, in order: an end holds no null for the others. */
function withRewards(turns: readonly TurnSummary[], { turnRewards }: EndRecord): TurnSummary[] {
  let next = 0;
  const isJudged = ({ verdict }: TurnSummary) => verdict !== null && verdict !== 'undecided';
  return turns.map((turn) => (isJudged(turn) ? { ...turn, reward: turnRewards[next++] ?? null } : turn));
}

interface ReadTurn {
  readonly summary: TurnSummary;
  /** A person's message is in its context. */
  readonly said: boolean;
}

function readTurn(owner: Owner, path: RolloutFiles, turn: number, detail: SummaryOptions['detail']): ReadTurn {
  const file = layout.turnFile(turn);
  const verdict = readRecord<VerdictRecord>('verdict', owner, path, layout.verdictFile(turn));
  const short = detail === 'logprobs' ? undefined : turnTail(path.tail(file));
  const record = short ?? readRecord<TurnRecord>('turn', owner, path, file);
  if (!record) throw new DamagedRecord(file, 'is missing');
  const summary: TurnSummary = {
    turn,
    verdict: verdict?.verdict ?? null,
    reason: verdict?.reason ?? null,
    extracted: verdict?.extracted ?? null,
    reward: null,
    outputTokens: isWhole(record) ? outputTokens(record) : (record.versions.at(-1)?.end ?? 0),
    contextTokens: contextTokens(record),
    finish: record.finish,
    versionStart: record.versionStart,
    versionEnd: record.versionEnd,
    server: record.server,
    tries: record.attempt,
    startedAt: record.startedAt,
    finishedAt: record.finishedAt,
    judgeMs: verdict && verdict.verdict !== 'called' ? verdict.tookMs : null,
    logprobSum: record.logprobs ? record.logprobs.reduce((sum, logprob) => sum + logprob, 0) : null,
    ...(verdict?.calls && { calls: verdict.calls.map(callSummary) }),
  };
  return { summary, said: record.said !== undefined };
}

type Tail = Pick<
  TurnRecord,
  | 'finish'
  | 'versions'
  | 'versionStart'
  | 'versionEnd'
  | 'contextLength'
  | 'attempt'
  | 'startedAt'
  | 'finishedAt'
  | 'server'
> &
  Partial<TurnRecord>;

const isWhole = (record: Tail): record is TurnRecord => record.outputIds !== undefined;

export const TAIL_BYTES = 4096;
export const HEAD_BYTES = 32;
const TURN_HEAD = `{"format":"${FORMATS.turn}"`;
const FIRST_SMALL_FIELD = '"finish":"';

/**
 * The small fields of a turn's record, which follow its lists and texts, from the last bytes of its file. No answer can
 * forge them: inside a JSON string the quotes of the field's name are escaped. Undefined if more must be read, as of
 * another format.
 */
function turnTail(text: string | undefined): Tail | undefined {
  const at = text?.lastIndexOf(FIRST_SMALL_FIELD) ?? -1;
  if (!text?.startsWith(TURN_HEAD) || at < 0 || !text.endsWith('"}\n')) return undefined;
  try {
    const fields = JSON.parse(`{${text.slice(at)}`) as Tail;
    // Text of a server without token ids has its count in a list before.
    return Array.isArray(fields.versions) && fields.textLogprobs === undefined && fields.trainable !== false
      ? fields
      : undefined;
  } catch {
    return undefined;
  }
}

function tailOf(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const { size } = fstatSync(file);
    const head = size > TAIL_BYTES ? Math.min(HEAD_BYTES, size - TAIL_BYTES) : 0;
    const bytes = Buffer.alloc(head + Math.min(TAIL_BYTES, size));
    if (head > 0) readSync(file, bytes, 0, head, 0);
    const read = readSync(file, bytes, head, bytes.length - head, size - (bytes.length - head));
    return bytes.toString('utf8', 0, head + read);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw fileError('read', path, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Undefined if there is no such file; a torn end was never written. */
function readRecord<T extends RolloutRecord | EndRecord | VerdictRecord | TurnRecord>(
  kind: RecordKind,
  owner: Owner,
  files: RolloutFiles,
  file: string,
): T | undefined {
  const text = files.text(file);
  if (text === undefined) return undefined;
  const decoded = decodeRecord(kind, owner, text);
  if (!('problem' in decoded)) return decoded.record as T;
  if (decoded.torn && kind === 'end') return undefined;
  throw new DamagedRecord(file, decoded.problem);
}

function readWhole(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw fileError('read', path, error);
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw fileError('read', folder, error);
  }
}
