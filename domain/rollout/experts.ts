// The experts that a mixture of experts sent tokens to, as its server gives them: one row of bytes for each token that was fed,
// [layers][experts a token], in files beside the records. A record names its slices by hash: of a rollout they lie end to end, over
// all tokens but the last one, which no model was fed with. What the bytes say is the trainer's to read. Pure.

import * as f from '../schema/fields.ts';

const BYTES = { uint8: 1, uint16: 2, int32: 4 } as const;
export type ExpertsType = keyof typeof BYTES;

/** The form of a row: little-endian numbers of this type. */
export interface ExpertsShape {
  readonly layers: number;
  readonly perToken: number;
  readonly type: ExpertsType;
}

const SLICE = {
  sha256: f.HASH,
  /** Of the whole file, without its compression. */
  bytes: f.COUNT,
  /** The token of its first row, from the first of the context. */
  start: f.COUNT,
  /** Rows of the file that count, from its first. */
  rows: f.PLACE,
  layers: f.PLACE,
  perToken: f.PLACE,
  type: f.oneOf('uint8', 'uint16', 'int32'),
};
export type ExpertsSlice = f.ObjectOf<typeof SLICE>;
export const EXPERTS: f.Test<readonly ExpertsSlice[]> = [f.listOf(f.objectOf(SLICE))[0], 'a list of slices of experts'];

/** What a server gives with an answer. */
export interface GivenExperts extends ExpertsShape {
  readonly start: number;
  readonly rows: number;
  readonly data: Uint8Array;
}

export const bytesOfRow = ({ layers, perToken, type }: ExpertsShape): number => layers * perToken * BYTES[type];

/** `experts/<2 hex>/<sha256>-<bytes>.gz` */
export const expertsFile = ({ sha256, bytes }: Pick<ExpertsSlice, 'sha256' | 'bytes'>): string =>
  `experts/${sha256.slice(0, 2)}/${sha256}-${bytes}.gz`;

/** The first token whose row is new with an answer to a context of so many old and new tokens: the last old one is fed with it. */
export const expertsFrom = (oldTokens: number): number => Math.max(0, oldTokens - 1);

/** Up to the token before `end`, which was not fed. */
export const slicesUpTo = (slices: readonly ExpertsSlice[], end: number): readonly ExpertsSlice[] =>
  slices.flatMap((one) => (one.start < end ? [{ ...one, rows: Math.min(one.rows, end - one.start) }] : []));

interface Fed {
  readonly experts?: readonly ExpertsSlice[];
  readonly contextIds: readonly number[];
  /** Of the turn's whole context. */
  readonly contextLength: number;
  readonly outputIds: readonly number[];
}

/** The fault of a turn's slices; null if they cover its tokens. */
export function flawOfSlices({ experts = [], contextIds, contextLength, outputIds }: Fed): string | null {
  let at = expertsFrom(contextLength - contextIds.length);
  for (const one of experts) {
    if (one.start !== at) return `has experts from token ${one.start} on where those before end at ${at}`;
    if (one.rows * bytesOfRow(one) > one.bytes) return `has more rows of experts than its file`;
    at += one.rows;
  }
  const end = contextLength + outputIds.length - 1;
  return at === end ? null : `has experts up to token ${at}; its last one that was fed is ${end}`;
}
