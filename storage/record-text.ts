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
}

export function encodeRecord(kind: RecordKind, owner: Owner | null, record: object): RecordText {
  const head = { format: FORMATS[kind], ...(owner ? { of_rollout: owner } : {}) };
  const { format: _, ...body } = record as { format?: string };
  // The run's own records are read by people: one field a line.
  const indent = owner ? 0 : 2;
  refuseNonFinite(body, kind);
  const json = JSON.stringify({ ...head, ...body }, null, indent);
  const open = json.slice(0, indent ? -2 : -1);
  const hash = sha256(open);
  const text = indent ? `${open},\n  "sha256": "${hash}"\n}\n` : `${open},"sha256":"${hash}"}\n`;
  return { text, hash };
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

/** The record in a text that we made ourselves: nothing of it is checked. */
export function recordIn(owner: Owner | null, text: string): object {
  return opened(owner, text).record;
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

/** JSON would turn NaN and infinities into null without a word. Looked for beforehand: a replacer is much slower. */
function refuseNonFinite(value: unknown, key: string): void {
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new RangeError(`${value} (in ${key}) cannot be kept as JSON`);
  } else if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) refuseNonFinite(item, key);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) refuseNonFinite(item, name);
  }
}
