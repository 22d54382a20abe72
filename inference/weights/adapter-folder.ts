// The folder of an adapter as PEFT saves it: the hash of its files, and whether it changes nothing. Reads it once, in pieces.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { EverturnError, UsageError } from '../../domain/errors/errors.ts';
import { streamRegular } from '../../local/machine/regular-file.ts';

const CONFIG = 'adapter_config.json';
const TENSORS = 'adapter_model.safetensors';

export interface ReadAdapter {
  readonly hash: string;
  /** Every tensor but the `lora_A` ones is zero, as before the first step: it answers as the model does. */
  readonly isZero: boolean;
}

/** Throws a UsageError that says what the folder lacks. */
export async function readAdapter(folder: string): Promise<ReadAdapter> {
  const hash = createHash('sha256');
  try {
    const config = createHash('sha256');
    for await (const piece of streamRegular(join(folder, CONFIG)) as AsyncIterable<Buffer>) config.update(piece);
    hash.update(config.digest());
    const isZero = await readTensors(join(folder, TENSORS), (piece) => hash.update(piece));
    return { hash: hash.digest('hex'), isZero };
  } catch (error) {
    if (error instanceof EverturnError) throw error;
    throw new UsageError(`${folder} holds no adapter: ${error instanceof Error ? error.message : String(error)}.`, {
      reason: 'no-weights',
      fix: `It takes ${CONFIG} and ${TENSORS}, as PEFT saves them, in a folder that workers and servers see.`,
      cause: error,
    });
  }
}

type Range = readonly [number, number];

const MOST_HEADER_BYTES = 64 * 2 ** 20;

/** True if all that could change an answer is zero. */
async function readTensors(path: string, each: (piece: Buffer) => unknown): Promise<boolean> {
  let header: Buffer | null = Buffer.alloc(0);
  let watched: readonly Range[] = [];
  let at = 0;
  let isZero = true;
  for await (const piece of streamRegular(path, 2 ** 20) as AsyncIterable<Buffer>) {
    each(piece);
    let data = piece;
    if (header) {
      header = Buffer.concat([header, piece]);
      const length = header.length < 8 ? Infinity : Number(header.readBigUInt64LE());
      if (header.length >= 8 && length > MOST_HEADER_BYTES) throw new Error(`${TENSORS} has no header`);
      if (header.length < 8 + length) continue;
      watched = rangesOf(header.toString('utf8', 8, 8 + length));
      data = header.subarray(8 + length);
      header = null;
    }
    if (isZero) isZero = watched.every(([from, to]) => isZeroIn(data, from - at, to - at));
    at += data.length;
  }
  const end = Math.max(0, ...watched.map(([, to]) => to));
  if (header || watched.length === 0 || at < end) throw new Error(`${TENSORS} is cut off, or has no tensors`);
  return isZero;
}

/** The bytes of the tensors that may be zero. */
function rangesOf(header: string): Range[] {
  const tensors = JSON.parse(header) as Readonly<Record<string, { readonly data_offsets?: Range }>>;
  return Object.entries(tensors).flatMap(([name, { data_offsets: range }]) =>
    name === '__metadata__' || !range || /\.lora_A\b/.test(name) ? [] : [range],
  );
}

const ZEROS = Buffer.alloc(2 ** 20);

function isZeroIn(data: Buffer, from: number, to: number): boolean {
  for (let start = Math.max(0, from); start < Math.min(to, data.length); start += ZEROS.length) {
    const part = data.subarray(start, Math.min(to, data.length, start + ZEROS.length));
    if (!part.equals(ZEROS.subarray(0, part.length))) return false;
  }
  return true;
}
