// A record as text: one JSON object that opens with its format and the rollout it belongs to and closes
// with the SHA-256 of everything before it. Numbers survive exactly. `head -c -78 turn-001.json |
// sha256sum` proves a one-line record; a torn, changed or misplaced file does not pass.

import { createHash } from 'node:crypto';

export const FORMATS = {
  run: 'everturn-run/1',
  result: 'everturn-result/1',
  rollout: 'everturn-rollout/1',
  turn: 'everturn-turn/1',
  chunk: 'everturn-chunk/1',
  verdict: 'everturn-verdict/1',
  end: 'everturn-end/1',
} as const;
export type RecordKind = keyof typeof FORMATS;

/** The rollout a record belongs to; null for the run's own records. */
export interface Owner {
  readonly query: string;
  readonly sample: number;
  readonly attempt: number;
}

export interface RecordText {
  readonly text: string;
  readonly hash: string;
  /** As it is read back from the text, without the reading. */
  readonly record: object;
}

export function encodeRecord(kind: RecordKind, owner: Owner | null, record: object): RecordText {
  const head = { format: FORMATS[kind], ...(owner ? { of_rollout: owner } : {}) };
  const { format: _, ...body } = record as { format?: string };
  // The run's own records are read by people: one field a line.
  const indent = owner ? 0 : 2;
  const kept = asKept(body, kind);
  const json = JSON.stringify({ ...head, ...kept }, null, indent);
  const open = json.slice(0, indent ? -2 : -1);
  const hash = sha256(open);
  const text = indent ? `${open},\n  "sha256": "${hash}"\n}\n` : `${open},"sha256":"${hash}"}\n`;
  return { text, hash, record: owner ? kept : { format: FORMATS[kind], ...kept } };
}

/** What is wrong with a text that should be a record. */
export interface Flaw {
  readonly problem: string;
  /** Its end is missing, and nothing else need be wrong: a power cut may leave such a file. */
  readonly torn?: true;
}

const TRAILER = /,(?:\n {2})?"sha256": ?"([0-9a-f]{64})"\n?\}\n$/;

/** The record and its hash, or what is wrong with the text. */
export function decodeRecord(
  kind: RecordKind,
  owner: Owner | null,
  text: string,
): { readonly record: object; readonly hash: string } | Flaw {
  if (text === '') return { problem: 'is empty', torn: true };
  const trailer = TRAILER.exec(text.slice(-120));
  if (!trailer) {
    if (text.endsWith('}\n')) return { problem: 'is not a record of ours: it ends without a hash' };
    return { problem: 'is torn: its end is missing', torn: true };
  }
  const hash = sha256(text.slice(0, text.length - trailer[0].length));
  if (hash !== trailer[1]) return { problem: `is changed: its content hashes to ${hash}, it says ${trailer[1]}` };
  const { format, of, record } = opened(owner, text);
  if (format !== FORMATS[kind]) return { problem: `has format ${JSON.stringify(format)}, not ${FORMATS[kind]}` };
  if (owner && (of?.query !== owner.query || of.sample !== owner.sample || of.attempt !== owner.attempt)) {
    return { problem: `belongs to another rollout: ${JSON.stringify(of)}` };
  }
  return { record, hash };
}

function opened(owner: Owner | null, text: string) {
  const {
    format,
    of_rollout: of,
    sha256: _,
    ...record
  } = JSON.parse(text) as Record<string, unknown> & { of_rollout?: Owner };
  return { format, of, record: owner ? record : { format, ...record } };
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * A copy that is what JSON makes of it. NaN and infinities, which it would turn into null without a word, are refused.
 * Written out, because reading the text back, or a replacer, takes several times as long.
 */
function asKept<T>(value: T, key: string): T {
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new RangeError(`${value} (in ${key}) cannot be kept as JSON`);
    return (value === 0 ? 0 : value) as T; // JSON knows no -0
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => asKept(item ?? null, key)) as T;
  const fields = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(fields.map(([name, item]) => [name, asKept(item as unknown, name)])) as T;
}
