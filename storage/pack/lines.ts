// The records of one rollout as the text of one entry of a pack: the exact lines of its files, in the order rollout,
// then turn by turn a person's message, its parts, record, calls and verdict, then the end. A line's own text says which
// file it was, by the head that our writer gives it. Its record is parsed and proved when somebody asks for it.

import type { EndRecord } from '../../domain/trajectory.ts';
import {
  callFile,
  chunkFile,
  END_FILE,
  intentFile,
  parseRolloutFile,
  ROLLOUT_FILE,
  sayFile,
  turnFile,
  verdictFile,
} from '../record/layout.ts';
import { kindOf, openRecord, type OpenedRecord, type Owner, type RecordKind } from '../record/text.ts';

export interface PackedLine {
  readonly text: string;
  /** The record, proved by its hash and in its place; or what is wrong with it. */
  open(): OpenedRecord | { readonly problem: string };
}

export type PackedLines = ReadonlyMap<string, PackedLine>;

/** By the name that its file had; a line without one has a name that no file of ours has. */
export function linesByName(text: string, owner: Owner): PackedLines {
  const lines = new Map<string, PackedLine>();
  const { query, sample, attempt } = owner;
  const of = `","of_rollout":${JSON.stringify({ query, sample, attempt })}`;
  let last: Rank = [0, 0, 0];
  for (let from = 0; from < text.length;) {
    const end = text.indexOf('\n', from);
    const line = text.slice(from, end < 0 ? text.length : end + 1);
    from += line.length;
    const name = nameByHead(line, of) ?? nameOf(openRecord(line)) ?? `line-${lines.size + 1}`;
    const rank = rankOf(name);
    const inPlace = compare(rank, last) >= 0;
    last = rank;
    lines.set(lines.has(name) ? `${name} again` : name, packedLine(line, name, owner, inPlace));
  }
  return lines;
}

function packedLine(text: string, name: string, owner: Owner, inPlace: boolean): PackedLine {
  let opened: OpenedRecord | { readonly problem: string } | undefined;
  const open = () => {
    const found = openRecord(text);
    if ('problem' in found) return { problem: found.problem };
    const stray = strayProblem(found, owner);
    if (stray !== undefined) return { problem: stray };
    if (!inPlace) return { problem: 'is in the wrong place of its pack' };
    return (nameOf(found) ?? name) === name ? found : { problem: 'says twice which record it is' };
  };
  return { text, open: () => (opened ??= open()) };
}

function strayProblem({ of }: OpenedRecord, { query, sample, attempt }: Owner): string | undefined {
  const own = of?.query === query && of.sample === sample && of.attempt === attempt;
  return own ? undefined : `belongs to another rollout: ${JSON.stringify(of)}`;
}

const FORMAT = '{"format":"';
const NUMBERS = /,"turn":([1-9]\d{0,8})(?:,"(?:chunk|call)":([1-9]\d{0,8}))?[,}]/y;

/** Of a record of this rollout in our writer's form; undefined for any other text. */
function nameByHead(line: string, of: string): string | undefined {
  if (!line.startsWith(FORMAT)) return undefined;
  const end = line.indexOf('"', FORMAT.length);
  const kind = kindOf(line.slice(FORMAT.length, end));
  if (!kind || !line.startsWith(of, end)) return undefined;
  NUMBERS.lastIndex = end + of.length;
  const found = NUMBERS.exec(line);
  const [turn, second] = [Number(found?.[1]), found?.[2] === undefined ? undefined : Number(found[2])];
  return fileOf(kind, { turn, chunk: second, call: second });
}

/** The first flaw of a line. */
export function lineProblem(lines: PackedLines): string | undefined {
  for (const [name, line] of lines) {
    const opened = line.open();
    if ('problem' in opened) return `${name} ${opened.problem}`;
    if (parseRolloutFile(name).kind === 'foreign') return `${name} is no file of ours`;
  }
  return undefined;
}

/** Why these are not the records of a rollout that has ended: each is sound, and its end names exactly its turns. */
export function endProblem(lines: PackedLines): string | undefined {
  const end = recordOf<EndRecord>(lines, END_FILE);
  if (!lines.has(ROLLOUT_FILE)) return `${ROLLOUT_FILE} is not there`;
  if (!Array.isArray(end?.turns)) return `${END_FILE} names no turns`;
  const other = end.turns.findIndex((hash, i) => {
    const turn = lines.get(turnFile(i + 1))?.open();
    return !turn || 'problem' in turn || turn.hash !== hash;
  });
  return other < 0 ? undefined : `${END_FILE} names another ${turnFile(other + 1)}`;
}

/** Undefined as well for a damaged one. */
export function recordOf<T>(lines: PackedLines, name: string): T | undefined {
  const opened = lines.get(name)?.open();
  return opened && !('problem' in opened) ? (opened.record as T) : undefined;
}

/** Also of a record that was changed, if it can be parsed. */
function nameOf({ kind, record }: Partial<OpenedRecord>): string | undefined {
  return kind && record && fileOf(kind, record);
}

function fileOf(
  kind: RecordKind,
  { turn, chunk, call }: { readonly [name in 'turn' | 'chunk' | 'call']?: unknown },
): string | undefined {
  if (kind === 'rollout') return ROLLOUT_FILE;
  if (kind === 'end') return END_FILE;
  if (!isPlace(turn)) return undefined;
  if (kind === 'turn') return turnFile(turn);
  if (kind === 'verdict') return verdictFile(turn);
  if (kind === 'say') return sayFile(turn);
  if (kind === 'intent' && isPlace(call)) return intentFile(turn, call);
  if (kind === 'call' && isPlace(call)) return callFile(turn, call);
  return kind === 'chunk' && isPlace(chunk) ? chunkFile(turn, chunk) : undefined;
}

const isPlace = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

/** Files of a rollout in the order of their lines. */
export function inOrder(names: readonly string[]): string[] {
  return names.toSorted((a, b) => compare(rankOf(a), rankOf(b)));
}

type Rank = readonly [turn: number, kind: number, chunk: number];

function rankOf(name: string): Rank {
  const file = parseRolloutFile(name);
  if (file.kind === 'rollout') return [0, 0, 0];
  if (file.kind === 'say') return [file.turn, -1, 0];
  if (file.kind === 'chunk') return [file.turn, 0, file.chunk];
  if (file.kind === 'turn') return [file.turn, 1, 0];
  if (file.kind === 'intent') return [file.turn, 2, file.call];
  if (file.kind === 'call') return [file.turn, 3, file.call];
  return file.kind === 'verdict' ? [file.turn, 4, 0] : [Infinity, 0, 0];
}

const compare = (a: Rank, b: Rank): number => (a[0] === b[0] ? a[1] - b[1] || a[2] - b[2] : a[0] < b[0] ? -1 : 1);
