// The summary of one rollout from its records, read as files or out of its line. The hash of each record that is read is
// checked, and the texts and ids of a turn are not parsed.

import { entriesOfAnswers, successOf } from '../../domain/rollout/ending.ts';
import { callSummary, type RolloutSummary, type TurnSummary } from '../../domain/rollout/rollout-summary.ts';
import type { EndRecord, RolloutRecord, VerdictRecord } from '../../domain/rollout/trajectory.ts';
import { contextTokens, outputTokens } from '../../domain/rollout/turn-facts.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { join } from '../place.ts';
import type { RolloutFiles } from '../store.ts';
import * as layout from '../format/layout.ts';
import { formatOf, type RecordKind } from '../format/kinds.ts';
import { type Breach, decodeRecord, type Owner, soundHash } from '../format/text.ts';
import { END_FILE, fileOf, ROLLOUT_FILE } from '../format/rollout-file.ts';

export interface SummaryOptions {
  /** `ends`: one small file a rollout, no turns. `logprobs`: whole turn records. Default `turns`. */
  readonly detail?: 'ends' | 'turns' | 'logprobs';
  /** Called for a rollout with a damaged record, which is left out. */
  readonly onBroken?: (breach: Breach) => void;
}

/** Undefined if it has not begun or a record of it is damaged. */
export function summaryOf(
  path: RolloutFiles,
  owner: Owner,
  index: number | null,
  { detail = 'turns', onBroken }: SummaryOptions = {},
): RolloutSummary | undefined {
  try {
    const end = readRecord<EndRecord>('end', owner, path, END_FILE);
    // Without an end, turns are found by name; a rollout that an end names needs no listing.
    const names = end ? null : path.names();
    if (names && !names.includes(ROLLOUT_FILE)) return undefined;
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
      success: entriesOfAnswers(success, called),
      returns: entriesOfAnswers(end?.returns ?? [], called),
      turns: end ? withRewards(turns, end) : turns,
      finishedAt: end?.finishedAt ?? null,
      ...(said && { steered: 'message' }),
    };
  } catch (error) {
    if (!(error instanceof DamagedRecord)) throw error;
    const problem = path.line === undefined ? error.message : `${error.message} (${path.line.place})`;
    onBroken?.({ path: join(layout.rolloutFolder(owner), error.file), problem });
    return undefined;
  }
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
  while (names.includes(fileOf('turn', count + 1)) && names.includes(fileOf('verdict', count + 1))) count++;
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
  const file = fileOf('turn', turn);
  const verdict = readRecord<VerdictRecord>('verdict', owner, path, fileOf('verdict', turn));
  const short = detail === 'logprobs' ? undefined : turnTail(path.text(file));
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
    ...(record.usage?.cached !== undefined && { cachedTokens: record.usage.cached }),
    ...(record.usage?.reasoning !== undefined && { reasoningTokens: record.usage.reasoning }),
    finish: record.finish,
    versionStart: record.versionStart,
    versionEnd: record.versionEnd,
    server: record.server,
    tries: record.attempt,
    startedAt: record.startedAt,
    finishedAt: record.finishedAt,
    judgeMs: verdict && verdict.verdict !== 'called' ? verdict.tookMs : null,
    // A server of text alone gives none.
    logprobSum: record.logprobs?.length ? record.logprobs.reduce((sum, logprob) => sum + logprob, 0) : null,
    ...(verdict?.metrics && { metrics: verdict.metrics }),
    ...(verdict?.rewards && { rewards: verdict.rewards }),
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

const TURN_HEAD = `{"format":"${formatOf('turn')}"`;
const FIRST_SMALL_FIELD = '"finish":"';

/**
 * The small fields of a turn's record, which follow its lists and texts: those are not parsed. No answer can
 * forge them: inside a JSON string the quotes of the field's name are escaped. Undefined if more must be parsed, as
 * of another format, or of a damaged record.
 */
function turnTail(text: string | undefined): Tail | undefined {
  const at = text?.lastIndexOf(FIRST_SMALL_FIELD) ?? -1;
  if (!text?.startsWith(TURN_HEAD) || at < 0 || typeof soundHash(text) !== 'string') return undefined;
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
