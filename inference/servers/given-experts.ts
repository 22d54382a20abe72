// The experts of an answer's tokens, as servers send them: SGLang the plain bytes, whose form config.json gives; vLLM a .npy file.
// A wrong size is no answer. Pure.

import { ModelError } from '../../domain/errors/errors.ts';
import { bytesOfRow, type ExpertsShape, type ExpertsType, type GivenExperts } from '../../domain/rollout/experts.ts';
import { badReply, type RequestPlace } from '../http/http-errors.ts';

interface Asked {
  readonly contextIds: readonly number[];
  /** Undefined: none were. */
  readonly expertsFrom: number | undefined;
  /** Of the answer. */
  readonly tokens: number;
}

/** Bytes of a reply's body for its experts, in base64, at most. */
export function bytesFor(routing: Routing | null, { contextIds, expertsFrom, tokens }: Asked): number {
  if (!routing || expertsFrom === undefined) return 0;
  const rows = contextIds.length + tokens - expertsFrom;
  return Math.ceil((rows * bytesOfRow({ ...routing, type: 'int32' }) * 4) / 3);
}

type Routing = Omit<ExpertsShape, 'type'>;

/** Undefined where none are wanted, or the server says none. */
export function sglangExperts(
  text: string | null | undefined,
  routing: Routing | null,
  asked: Asked,
  place: RequestPlace,
): GivenExperts | undefined {
  if (!routing) return undefined;
  const { layers, perToken } = routing;
  return given(text, asked, place, (data) => ({ layers, perToken, type: 'int32', data }));
}

export function vllmExperts(
  text: string | null | undefined,
  asked: Asked,
  place: RequestPlace,
): GivenExperts | undefined {
  return given(text, asked, place, ofNpy);
}

function given(
  text: string | null | undefined,
  { contextIds, expertsFrom: start, tokens }: Asked,
  place: RequestPlace,
  read: (bytes: Buffer) => (ExpertsShape & { readonly data: Uint8Array }) | null,
): GivenExperts | undefined {
  if (start === undefined || text == null) return undefined;
  const rows = contextIds.length + tokens - 1 - start;
  const found = read(Buffer.from(text, 'base64'));
  if (found && found.data.length === rows * bytesOfRow(found)) return { ...found, start, rows };
  const is = found ? `${found.data.length} bytes of experts` : 'experts in no form that is known';
  const flaw = 'experts of another size than its tokens';
  throw badReply(`gave ${is} for ${rows} tokens`, place, { flaw });
}

/** A server whose first answer has another size is taken for one that gives none. */
export function isOfSize(read: () => GivenExperts | undefined): boolean {
  try {
    return read() !== undefined;
  } catch (error) {
    if (error instanceof ModelError && error.reason === 'reply-malformed') return false;
    throw error;
  }
}

const TYPES: Readonly<Record<string, ExpertsType>> = { '|u1': 'uint8', '<u2': 'uint16', '<i4': 'int32' };
const MAGIC = '\x93NUMPY';

/** Null for a file of another form. */
function ofNpy(bytes: Buffer): (ExpertsShape & { readonly data: Uint8Array }) | null {
  if (bytes.length < 12 || bytes.toString('latin1', 0, 6) !== MAGIC) return null;
  const isLong = bytes[6]! > 1;
  const begin = isLong ? 12 : 10;
  const end = begin + (isLong ? bytes.readUInt32LE(8) : bytes.readUInt16LE(8));
  const header = bytes.toString('latin1', begin, end);
  const type = TYPES[/'descr': *'([^']+)'/.exec(header)?.[1] ?? ''];
  const [, layers, perToken] = /'shape': *\(\d+, *(\d+), *(\d+),?\)/.exec(header) ?? [];
  if (!type || layers === undefined || !/'fortran_order': *False/.test(header)) return null;
  return { layers: Number(layers), perToken: Number(perToken), type, data: bytes.subarray(end) };
}
