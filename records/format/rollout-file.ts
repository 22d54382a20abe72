// The names of the files in a rollout's folder, and of the parts of an ended rollout's line: they follow from the table of kinds.

import { OF_ROLLOUT, type NumbersOf, type RolloutKind } from './kinds.ts';
import { isHarmless, whole } from './layout.ts';

type NumberName = 'turn' | 'chunk' | 'call' | 'entry';
interface Row {
  readonly file: string;
  readonly numbers: readonly NumberName[];
  readonly from?: number;
}

/** The name of a record's file. */
export function fileOf<K extends RolloutKind>(kind: K, ...at: NumbersOf<K>): string {
  const { file, numbers }: Row = OF_ROLLOUT[kind];
  let next = 0;
  const padded = (value: number) => String(whole(numbers[next++]!, value)).padStart(3, '0');
  return `${file.replaceAll('#', () => padded((at as readonly number[])[next]!))}.json`;
}

export const ROLLOUT_FILE = fileOf('rollout');
export const END_FILE = fileOf('end');

/** The numbers that a record holds. */
const numbersOf = (kind: RolloutKind, record: object): readonly unknown[] =>
  OF_ROLLOUT[kind].numbers.map((name) => (record as Readonly<Record<string, unknown>>)[name]);

/** The name of the file of this record. Throws a UsageError for numbers that name no file. */
export const fileToWrite = (kind: RolloutKind, record: object): string =>
  fileOf(kind, ...(numbersOf(kind, record) as never));

/** As fileToWrite, of a record that was read; undefined where its numbers name no file. */
export const fileOfRecord = (kind: RolloutKind, record: object): string | undefined =>
  fileAt(kind, numbersOf(kind, record));

/** The same of the numbers themselves. */
export function fileAt(kind: RolloutKind, at: readonly unknown[]): string | undefined {
  const { from = 1 }: Row = OF_ROLLOUT[kind];
  const isPlace = at.every((value) => Number.isSafeInteger(value) && (value as number) >= from);
  return isPlace ? fileOf(kind, ...(at as never)) : undefined;
}

export type RolloutFile =
  | { readonly kind: 'harmless' | 'foreign' }
  | {
      [K in RolloutKind]: { readonly kind: K } & {
        readonly [N in (typeof OF_ROLLOUT)[K]['numbers'][number]]: number;
      };
    }[RolloutKind];

const PATTERNS = Object.entries(OF_ROLLOUT).map(([kind, { file }]) => ({
  kind: kind as RolloutKind,
  pattern: new RegExp(`^${file.replaceAll('.', '\\.').replaceAll('#', '(\\d{3,9})')}\\.json$`),
}));

/** The kind of a file, and its numbers. */
export function parseRolloutFile(name: string): RolloutFile {
  if (isHarmless(name)) return { kind: 'harmless' };
  for (const { kind, pattern } of PATTERNS) {
    const at = pattern.exec(name)?.slice(1).map(Number);
    if (!at || fileAt(kind, at) !== name) continue;
    const numbers: readonly NumberName[] = OF_ROLLOUT[kind].numbers;
    return { kind, ...Object.fromEntries(numbers.map((number, i) => [number, at[i]])) } as RolloutFile;
  }
  return { kind: 'foreign' };
}

const KINDS = Object.keys(OF_ROLLOUT);

/** The order of a rollout's files is that of its play. */
export function inOrder(names: readonly string[]): string[] {
  const rankOf = (name: string) => {
    const { kind, turn, ...part }: { kind: string; turn?: number } = parseRolloutFile(name);
    const place = turn ?? (kind === 'rollout' ? 0 : Number.MAX_SAFE_INTEGER);
    return [place, KINDS.indexOf(kind), ...(Object.values(part) as number[]), 0] as const;
  };
  return names
    .map((name) => ({ name, rank: rankOf(name) }))
    .sort((a, b) => a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1] || a.rank[2]! - b.rank[2]!)
    .map(({ name }) => name);
}
