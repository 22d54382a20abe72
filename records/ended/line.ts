// An ended rollout as one line: all its records, in the order of the play, each to the byte. The line follows from the
// records alone. Its head says which files they were and how long, so that one record is read without the others, and carries a
// checksum, without which a changed name would be a missing record; the records carry their own hashes, which are proved when
// somebody asks for a record.

import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { isOfRollout, kindOf, OF_ROLLOUT } from '../format/kinds.ts';
import { END_FILE, fileAt, fileOfRecord, inOrder, parseRolloutFile, ROLLOUT_FILE } from '../format/rollout-file.ts';
import { decodeRecord, type DecodedRecord, type Owner, soundHash } from '../format/text.ts';

interface EndedRecord {
  /** As its file had it. */
  readonly text: string;
  /** Without its newline. */
  readonly bytes: number;
  /** The record, proved by its hash, its owner and its place; or what is wrong with it. */
  open(): DecodedRecord | { readonly problem: string };
}

export interface EndedRollout {
  readonly of: Owner;
  /** By the name that its file had. */
  readonly records: ReadonlyMap<string, EndedRecord>;
  readonly line: Buffer;
}

const FORMAT_OF_LINE = 'everturn-ended/1';
const CHECKSUM = ',"crc32":';
const RECORDS = ',"records":[';
const TRAILER_BYTES = '],"sha256":""}\n'.length + 64;

/** The line, or why these files are not the sound records of an ended rollout. */
export function lineOf(owner: Owner, texts: ReadonlyMap<string, string>): Buffer | { readonly problem: string } {
  const names = inOrder([...texts.keys()]);
  if (names[0] !== ROLLOUT_FILE || names.at(-1) !== END_FILE) return { problem: 'it has no first record or no end' };
  const parts: Buffer[] = [];
  const files: Record<string, number> = {};
  const of = textOf(owner);
  for (const name of names) {
    const text = texts.get(name)!;
    const sound = soundHash(text);
    if (typeof sound !== 'string') return { problem: `${name} ${sound.problem}` };
    if (nameByHead(text, of) !== name) return { problem: `${name} holds another record than its name says` };
    const record = Buffer.from(text.slice(0, -1));
    parts.push(parts.length === 0 ? record : Buffer.concat([COMMA, record]));
    files[name] = record.length;
  }
  const body = Buffer.concat([headOf(owner, files), ...parts, Buffer.from(']')]);
  return Buffer.concat([body, trailerOf(body)]);
}

const COMMA = Buffer.from(',');
const textOf = ({ query, sample, attempt }: Owner): string => JSON.stringify({ query, sample, attempt });
function headOf(owner: Owner, files: object): Buffer {
  const text = `{"format":"${FORMAT_OF_LINE}","of_rollout":${textOf(owner)},"files":${JSON.stringify(files)}`;
  return Buffer.from(`${text}${CHECKSUM}${crc32(text)}${RECORDS}`);
}
const trailerOf = (body: Buffer): Buffer => Buffer.from(`,"sha256":"${hash('sha256', body)}"}\n`);

/** The rollout of a line; undefined for a text that is none. */
export function openLine(line: Buffer): EndedRollout | undefined {
  const at = line.indexOf(RECORDS, 0, 'latin1');
  if (at < 0 || line.at(-1) !== NEWLINE) return undefined;
  const checked = line.lastIndexOf(CHECKSUM, at, 'latin1');
  const sum = line.toString('latin1', checked + CHECKSUM.length, at);
  if (checked < 0 || sum !== String(crc32(line.subarray(0, checked)))) return undefined;
  const head = parsed(`${line.toString('utf8', 0, checked)}}`);
  if (head?.format !== FORMAT_OF_LINE || typeof head.of_rollout?.query !== 'string') return undefined;
  const { of_rollout: of, files } = head;
  const records = new Map<string, EndedRecord>();
  let from = at + RECORDS.length;
  for (const [name, bytes] of Object.entries(files ?? {})) {
    if (!Number.isSafeInteger(bytes) || bytes < 2) return undefined;
    records.set(name, recordAt(line, from, from + bytes, name, of));
    from += bytes + 1;
  }
  return from - 1 + TRAILER_BYTES === line.length ? { of, records, line } : undefined;
}

const isWhole = (line: Buffer): boolean =>
  line.subarray(1 - TRAILER_BYTES).equals(trailerOf(line.subarray(0, 1 - TRAILER_BYTES)));

/** Why a line is not the one that its records give. A record that is damaged is reported by itself. */
export function lineProblem({ of, records, line }: EndedRollout): string | undefined {
  if ([...records.values()].some((record) => 'problem' in record.open())) return undefined;
  const names = [...records.keys()];
  const head = headOf(of, Object.fromEntries([...records].map(([name, { bytes }]) => [name, bytes])));
  const body = line.subarray(0, 1 - TRAILER_BYTES);
  const ends: number[] = [];
  for (const { bytes } of records.values()) ends.push((ends.at(-1) ?? head.length - 1) + 1 + bytes);
  const isOurs =
    line.subarray(0, head.length).equals(head) &&
    inOrder(names).every((name, i) => name === names[i]) &&
    ends.slice(0, -1).every((end) => line[end] === COMMA[0]) &&
    line.subarray(body.length).equals(trailerOf(body));
  return isOurs ? undefined : 'is not the line that its records give';
}

interface Head {
  readonly format?: string;
  readonly of_rollout?: Owner;
  readonly files?: Readonly<Record<string, number>>;
}

const NEWLINE = 10;

function parsed(text: string): (Head & { readonly of_rollout: Owner }) | undefined {
  try {
    return JSON.parse(text) as Head & { readonly of_rollout: Owner };
  } catch {
    return undefined;
  }
}

function recordAt(line: Buffer, from: number, to: number, name: string, owner: Owner): EndedRecord {
  let opened: ReturnType<EndedRecord['open']> | undefined;
  const read = () => `${line.toString('utf8', from, to)}\n`;
  const open = () => {
    const { kind } = parseRolloutFile(name);
    if (kind === 'foreign' || kind === 'harmless') return { problem: 'has a name that no record has' };
    const found = decodeRecord(kind, owner, read());
    if ('problem' in found) return { problem: found.problem };
    return fileOfRecord(kind, found.record) === name ? found : { problem: 'holds another record than its name says' };
  };
  return {
    get text() {
      return read();
    },
    bytes: to - from,
    open: () => (opened ??= open()),
  };
}

const FORMAT = '{"format":"';
const NUMBERS = /,"(?:turn|entry)":([1-9]\d{0,8})(?:,"(?:chunk|call)":([1-9]\d{0,8}))?[,}]/y;

/** The file's name of a record of this rollout in our writer's form; undefined for any other text. */
function nameByHead(text: string, of: string): string | undefined {
  if (!text.startsWith(FORMAT)) return undefined;
  const end = text.indexOf('"', FORMAT.length);
  const kind = kindOf(text.slice(FORMAT.length, end));
  const owned = `","of_rollout":${of}`;
  if (!kind || !isOfRollout(kind) || !text.startsWith(owned, end)) return undefined;
  NUMBERS.lastIndex = end + owned.length;
  const numbers = NUMBERS.exec(text)?.slice(1) ?? [];
  return fileAt(
    kind,
    OF_ROLLOUT[kind].numbers.map((_, i) => Number(numbers[i])),
  );
}

const ROLLOUTS = 32;
const BYTES = 64 * 1024 * 1024;

export function openCache() {
  const known = new Map<string, EndedRollout>();
  let bytes = 0;
  return {
    get: (key: string): EndedRollout | undefined => known.get(key),
    /** A line that is damaged is read again, since somebody may repair it. */
    keep(key: string, rollout: EndedRollout): EndedRollout {
      if (!isWhole(rollout.line)) return rollout;
      for (const [first, oldest] of known) {
        if (known.size < ROLLOUTS && bytes + rollout.line.length <= BYTES) break;
        known.delete(first);
        bytes -= oldest.line.length;
      }
      known.set(key, rollout);
      bytes += rollout.line.length;
      return rollout;
    },
    clear(): void {
      known.clear();
      bytes = 0;
    },
  };
}
