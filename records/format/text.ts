// A record as text: one JSON object that begins with its format and its rollout and ends with the SHA-256 of
// everything before it. Numbers are exact. `head -c -78 turn-001.json | sha256sum` proves a one-line record; a torn,
// changed or misplaced file does not pass.

import { hash } from 'node:crypto';
import { inFieldOrder } from '../../domain/schema/fields.ts';
import { formatOf, type RecordKind, tableOf } from './kinds.ts';

/** The rollout a record belongs to; null for the run's own records. */
export interface Owner {
  readonly query: string;
  readonly sample: number;
  readonly attempt: number;
}

interface RecordText {
  readonly text: string;
  readonly hash: string;
  /** Equal to the record parsed from the text, without parsing it. */
  readonly record: object;
}

export function encodeRecord(kind: RecordKind, owner: Owner | null, record: object): RecordText {
  const kept = asKept(bodyOf(kind, record), kind);
  const text = hashedText(kind, owner, kept);
  const hex = sha256(text);
  const end = owner ? `,"sha256":"${hex}"}\n` : `,\n  "sha256": "${hex}"\n}\n`;
  return { text: text + end, hash: hex, record: owner ? kept : { format: formatOf(kind), ...kept } };
}

/** The hash that encodeRecord gives what was parsed from a text, without a copy. */
export const hashOfParsed = (kind: RecordKind, owner: Owner | null, record: object): string =>
  sha256(hashedText(kind, owner, bodyOf(kind, record)));

/** Its fields in the order of its table. */
function bodyOf(kind: RecordKind, record: object): object {
  const { format: _, ...body } = record as { format?: string };
  return inFieldOrder(tableOf(kind, body) ?? {}, body);
}

/** All of it before the hash. People read the run's own records: one field a line. */
function hashedText(kind: RecordKind, owner: Owner | null, body: object): string {
  const whole = { format: formatOf(kind), ...(owner ? { of_rollout: owner } : {}), ...body };
  return owner ? JSON.stringify(whole).slice(0, -1) : JSON.stringify(whole, null, 2).slice(0, -2);
}

/** The fault of a text that should be a record. */
interface Flaw {
  readonly problem: string;
  /** Its end is missing, and the rest may be sound: a power cut may leave such a file. */
  readonly torn?: true;
}

const TRAILER = /,(?:\n {2})?"sha256": ?"([0-9a-f]{64})"\n?\}\n$/;

export interface DecodedRecord {
  readonly record: object;
  readonly hash: string;
}

/** The record and its hash, or the fault of the text. */
export function decodeRecord(kind: RecordKind, owner: Owner | null, text: string): DecodedRecord | Flaw {
  const hash = soundHash(text);
  if (typeof hash !== 'string') return hash;
  let raw: RawRecord;
  try {
    raw = JSON.parse(text) as RawRecord;
  } catch {
    return { problem: 'is not JSON' };
  }
  const { format, of_rollout: of, sha256: _, ...rest } = raw;
  if (format !== formatOf(kind)) return { problem: `has format ${JSON.stringify(format)}, not ${formatOf(kind)}` };
  if (owner && (of?.query !== owner.query || of.sample !== owner.sample || of.attempt !== owner.attempt)) {
    return { problem: `belongs to another rollout: ${JSON.stringify(of)}` };
  }
  return { record: owner ? rest : { format, ...rest }, hash };
}

type RawRecord = Record<string, unknown> & { readonly format?: string; readonly of_rollout?: Owner };

/** The hash of a text that has its end and that hash. */
export function soundHash(text: string): string | Flaw {
  if (text === '') return { problem: 'is empty', torn: true };
  const trailer = TRAILER.exec(text.slice(-120));
  if (!trailer) {
    if (text.endsWith('}\n')) return { problem: 'is not a record of ours: it ends without a hash' };
    return { problem: 'is torn: its end is missing', torn: true };
  }
  const hash = sha256(text.slice(0, text.length - trailer[0].length));
  if (hash !== trailer[1]) return { problem: `is changed: its content has hash ${hash}, its last line ${trailer[1]}` };
  return hash;
}

export const sha256 = (text: string): string => hash('sha256', text);

/**
 * A copy as JSON preserves it. NaN and infinities, which JSON would silently turn into null, are refused.
 * Written out because parsing the text, or a replacer, takes several times as long.
 */
function asKept<T>(value: T, key: string): T {
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new RangeError(`${value} (in ${key}) cannot be stored as JSON`);
    return (value === 0 ? 0 : value) as T; // JSON knows no -0
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const plain = value.every((item) => Number.isFinite(item) && !Object.is(item, -0));
    return (plain ? value.slice() : value.map((item: unknown) => asKept(item ?? null, key))) as T;
  }
  const fields = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(fields.map(([name, item]) => [name, asKept(item as unknown, name)])) as T;
}

/** A record as stored, with the SHA-256 (hex) of its content. */
export interface Stored<T> {
  readonly record: T;
  readonly hash: string;
  /** False if an earlier put of the same name won. */
  readonly created: boolean;
}

/** A file that should not exist, or whose content is wrong. */
export interface Breach {
  /** Path relative to the run's folder. */
  readonly path: string;
  readonly problem: string;
}

export type OnBreach = (breach: Breach) => void;
