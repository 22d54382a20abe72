// The records of one rollout as the text of one entry of a pack: the exact lines of its files, in the order rollout,
// then turn by turn a person's message, its parts, record, calls and verdict, then the end. A line's own text says which file it was.

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
import { openRecord, type OpenedRecord, type Owner } from '../record/text.ts';

/** A line that is a sound record, or its problem. */
export type PackedLine = { readonly text: string } & (OpenedRecord | { readonly problem: string });

/** By the name that its file had; a line without one has a name that no file of ours has. */
export function linesByName(text: string, owner: Owner): ReadonlyMap<string, PackedLine> {
  const lines = new Map<string, PackedLine>();
  let last: Rank = [0, 0, 0];
  for (let from = 0; from < text.length;) {
    const end = text.indexOf('\n', from);
    const line = text.slice(from, end < 0 ? text.length : end + 1);
    from += line.length;
    const opened = openRecord(line);
    const name = nameOf(opened) ?? `line-${lines.size + 1}`;
    const rank = rankOf(name);
    const problem =
      'problem' in opened
        ? opened.problem
        : (strayProblem(opened, owner) ?? (compare(rank, last) < 0 ? 'is in the wrong place of its pack' : undefined));
    last = rank;
    lines.set(
      lines.has(name) ? `${name} again` : name,
      problem === undefined ? { text: line, ...(opened as OpenedRecord) } : { text: line, problem },
    );
  }
  return lines;
}

function strayProblem({ of }: OpenedRecord, { query, sample, attempt }: Owner): string | undefined {
  const own = of?.query === query && of.sample === sample && of.attempt === attempt;
  return own ? undefined : `belongs to another rollout: ${JSON.stringify(of)}`;
}

/** Also of a record that was changed, if it can be parsed. */
function nameOf({ kind, record }: Partial<OpenedRecord>): string | undefined {
  if (!record) return undefined;
  const { turn, chunk, call } = record as { readonly [name in 'turn' | 'chunk' | 'call']?: unknown };
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
