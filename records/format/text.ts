// A record as text: one JSON object that begins with its format and its rollout and ends with the SHA-256 of
// everything before it. Numbers are exact. `head -c -78 turn-001.json | sha256sum` proves a one-line record; a torn,
// changed or misplaced file does not pass.

import { createHash, type Hash, hash as hashAtOnce } from 'node:crypto';
import { setImmediate as breath } from 'node:timers/promises';
import { inOrder } from '../../domain/schema/fields.ts';
import { FORMATS, type RecordKind, tableOf } from './kinds.ts';

/** The rollout a record belongs to; null for the run's own records. */
export interface Owner {
  readonly query: string;
  readonly sample: number;
  readonly attempt: number;
}

export interface RecordText {
  readonly text: string;
  readonly hash: string;
  /** Equal to the record parsed from the text, without parsing it. */
  readonly record: object;
}

/** Long records are built in parts, so that the event loop is not blocked. */
export async function encodeRecord(kind: RecordKind, owner: Owner | null, record: object): Promise<RecordText> {
  const head = { format: FORMATS[kind], ...(owner ? { of_rollout: owner } : {}) };
  const { format: _, ...body } = record as { format?: string };
  const kept = asKept(ordered(kind, body), kind);
  const whole = { ...head, ...kept };
  // People read the run's own records: one field a line.
  const parts = owner ? jsonParts(whole) : [JSON.stringify(whole, null, 2).slice(0, -2)];
  let text = '';
  // One call is cheaper than a hash that grows, and nearly every record is short.
  let long: Hash | undefined;
  let hashed = 0;
  for (const part of parts) {
    text += part;
    if (text.length - hashed < PART_CHARS) continue;
    long = (long ?? createHash('sha256')).update(text.slice(hashed));
    hashed = text.length;
    await breath();
  }
  const hex = long ? long.update(text.slice(hashed)).digest('hex') : sha256(text);
  text += owner ? `,"sha256":"${hex}"}\n` : `,\n  "sha256": "${hex}"\n}\n`;
  return { text, hash: hex, record: owner ? kept : { format: FORMATS[kind], ...kept } };
}

/** The hash that encodeRecord gives what was parsed from a text: no copy is made, and no event loop waits. */
export function hashOfParsed(kind: RecordKind, owner: Owner | null, record: object): string {
  const { format: _, ...body } = record as { format?: string };
  const whole = { format: FORMATS[kind], ...(owner ? { of_rollout: owner } : {}), ...ordered(kind, body) };
  return sha256(owner ? JSON.stringify(whole).slice(0, -1) : JSON.stringify(whole, null, 2).slice(0, -2));
}

const ordered = (kind: RecordKind, body: object): object => inOrder(tableOf(kind, body) ?? {}, body);

/** The fault of a text that should be a record. */
export interface Flaw {
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
  if (format !== FORMATS[kind]) return { problem: `has format ${JSON.stringify(format)}, not ${FORMATS[kind]}` };
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

export function sha256(text: string): string {
  return hashAtOnce('sha256', text);
}

/** Numbers or characters per part: a few milliseconds of work. */
const PART_CHARS = 256 * 1024;
const PART_ITEMS = 16 * 1024;

/** The text of JSON.stringify without the last brace, in parts: long lists and long texts are split. */
function* jsonParts(record: Readonly<Record<string, unknown>>): Generator<string> {
  let before = '{';
  for (const [name, value] of Object.entries(record)) {
    const open = `${before}${JSON.stringify(name)}:`;
    before = ',';
    if (Array.isArray(value) && value.length > PART_ITEMS) {
      yield open;
      for (let at = 0; at < value.length; at += PART_ITEMS) {
        const items = JSON.stringify(value.slice(at, at + PART_ITEMS)).slice(1, -1);
        yield `${at === 0 ? '[' : ','}${items}`;
      }
      yield ']';
    } else if (typeof value === 'string' && value.length > PART_CHARS) {
      yield `${open}"`;
      for (let at = 0; at < value.length;) {
        const end = at + PART_CHARS + (isHighSurrogate(value, at + PART_CHARS - 1) ? 1 : 0);
        yield JSON.stringify(value.slice(at, end)).slice(1, -1);
        at = end;
      }
      yield '"';
    } else yield `${open}${JSON.stringify(value)}`;
  }
}

/** A surrogate pair that is split would become two escapes. */
function isHighSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xd800 && code < 0xdc00;
}

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
