// Rows of the list as bytes outside the heap, each read where it is looked at: as objects a hundred thousand of them take
// a hundred megabytes and several times that in garbage. A row that is put again takes new bytes; the old ones are lost.
// Leaves out rows that are open, and those of planted records whose facts are not numbers: they stay objects.

import type { Glance, Row, RowState } from './model/row.ts';

const CHUNK_BYTES = 1 << 20;
const STATES: readonly RowState[] = ['open', 'complete', 'undecided', 'failed', 'cancelled'];
const STEERED = 1;
const TURNS = 2;
const ANSWERS = 4;
const REWARD = 8;
const ENDED = 16;
/** Places in the head of a row; its lists and texts follow, the lists first. */
const [STATE, FLAGS, INDEX, SAMPLE, ATTEMPT, JUDGED, TURN_COUNT, ANSWER_COUNT] = [0, 1, 2, 6, 10, 14, 18, 22];
const [STOP, REASON, SERVER, AT_REWARD, AT_ENDED, LOWEST, HIGHEST] = [26, 30, 34, 38, 46, 54, 62];
/** Lengths of texts, doubled, and one more where a character takes two bytes; 0 where there is none. */
const [QUERY, TITLE, FINISH, FOUND, FLAW] = [70, 74, 78, 82, 86];
const TEXTS = [QUERY, TITLE, FINISH, FOUND, FLAW] as const;
const HEAD_BYTES = 90;
const [NUMBER_BYTES, NAME_BYTES] = [8, 4];

/** Names that many rows share. */
interface Names {
  readonly all: (string | null)[];
  readonly codes: Map<string | null, number>;
}

export class RowBytes {
  readonly #names: Names = { all: [null], codes: new Map([[null, 0]]) };
  #chunk = Buffer.alloc(0);
  #at = 0;

  /** The row, read from its bytes; undefined if it has no such form. */
  add(row: Row): Row | undefined {
    if (!hasForm(row)) return undefined;
    const { turns } = row;
    const texts = [row.query, row.title, turns?.finish, turns?.extracted, row.flaw];
    const wide = texts.map((text) => /[^\u0000-\u00ff]/.test(text ?? ''));
    const count = turns?.tokens.length ?? 0;
    const answers = turns?.answers ?? [];
    const lists = row.success.length + count * (2 * NUMBER_BYTES + NAME_BYTES) + answers.length * NAME_BYTES;
    const length = texts.reduce((sum, text, i) => sum + (text?.length ?? 0) * (wide[i] ? 2 : 1), HEAD_BYTES + lists);
    const [bytes, at] = this.#room(length);
    const flags =
      (row.steered ? STEERED : 0) |
      (turns ? TURNS : 0) |
      (turns?.answers ? ANSWERS : 0) |
      (row.reward === null ? 0 : REWARD) |
      (row.endedAt === null ? 0 : ENDED);
    bytes.writeUInt8(STATES.indexOf(row.state), at + STATE);
    bytes.writeUInt8(flags, at + FLAGS);
    bytes.writeUInt32LE(row.index === null ? 0 : row.index + 1, at + INDEX);
    for (const [place, value] of [
      [SAMPLE, row.sample],
      [ATTEMPT, row.attempt],
      [JUDGED, row.success.length],
      [TURN_COUNT, count],
      [ANSWER_COUNT, answers.length],
      [STOP, this.#code(row.stop)],
      [REASON, this.#code(row.reason)],
      [SERVER, this.#code(turns?.server ?? null)],
    ] as const)
      bytes.writeUInt32LE(value, at + place);
    bytes.writeDoubleLE(row.reward ?? 0, at + AT_REWARD);
    bytes.writeDoubleLE(row.endedAt ?? 0, at + AT_ENDED);
    bytes.writeDoubleLE(turns?.versions[0] ?? 0, at + LOWEST);
    bytes.writeDoubleLE(turns?.versions[1] ?? 0, at + HIGHEST);
    let next = at + HEAD_BYTES;
    for (const value of row.success) next = bytes.writeUInt8(value ?? 2, next);
    for (const value of turns?.tokens ?? []) next = bytes.writeDoubleLE(value ?? NaN, next);
    for (const value of turns?.ms ?? []) next = bytes.writeDoubleLE(value, next);
    for (const name of turns?.reasons ?? []) next = bytes.writeUInt32LE(this.#code(name), next);
    for (const place of answers) next = bytes.writeUInt32LE(place, next);
    for (const [i, text] of texts.entries()) {
      const absent = text === undefined || text === null;
      bytes.writeUInt32LE(absent ? 0 : 2 * (text.length + 1) + (wide[i] ? 1 : 0), at + TEXTS[i]!);
      if (!absent) next += bytes.write(text, next, wide[i] ? 'utf16le' : 'latin1');
    }
    return new StoredRow(bytes, at, this.#names) as Row;
  }

  #room(length: number): [Buffer, number] {
    if (length > CHUNK_BYTES / 8) return [Buffer.alloc(length), 0];
    if (this.#at + length > this.#chunk.length) [this.#chunk, this.#at] = [Buffer.alloc(CHUNK_BYTES), 0];
    const at = this.#at;
    this.#at += length;
    return [this.#chunk, at];
  }

  #code(name: string | null): number {
    const { all, codes } = this.#names;
    const known = codes.get(name);
    if (known !== undefined) return known;
    codes.set(name, all.length);
    return all.push(name) - 1;
  }
}

/** A row as an object of its own, whatever it was. */
export function plainRow(row: Row): Row {
  return row instanceof StoredRow ? row.toJSON() : row;
}

/** A row in its bytes: each look at a fact reads it, so a reader of several takes `plainRow`. */
class StoredRow {
  readonly #bytes: Buffer;
  readonly #at: number;
  readonly #names: Names;

  constructor(bytes: Buffer, at: number, names: Names) {
    this.#bytes = bytes;
    this.#at = at;
    this.#names = names;
  }

  get index(): number | null {
    const index = this.#u32(INDEX);
    return index === 0 ? null : index - 1;
  }
  get query(): string {
    return this.#text(QUERY)!;
  }
  get title(): string {
    return this.#text(TITLE)!;
  }
  get sample(): number {
    return this.#u32(SAMPLE);
  }
  get attempt(): number {
    return this.#u32(ATTEMPT);
  }
  get state(): RowState {
    return STATES[this.#bytes[this.#at + STATE]!]!;
  }
  get stop(): Row['stop'] {
    return this.#name(STOP) as Row['stop'];
  }
  get reason(): string | null {
    return this.#name(REASON);
  }
  get success(): Row['success'] {
    return this.#list(0, this.#u32(JUDGED), 1, (at) => {
      const value = this.#bytes[at]!;
      return value === 2 ? null : (value as 0 | 1);
    });
  }
  get reward(): number | null {
    return this.#has(REWARD) ? this.#double(AT_REWARD) : null;
  }
  get endedAt(): number | null {
    return this.#has(ENDED) ? this.#double(AT_ENDED) : null;
  }
  get steered(): true | undefined {
    return this.#has(STEERED) || undefined;
  }
  get flaw(): string | undefined {
    return this.#text(FLAW) ?? undefined;
  }
  get turns(): Glance | null {
    if (!this.#has(TURNS)) return null;
    const bytes = this.#bytes;
    const [first, count] = [this.#u32(JUDGED), this.#u32(TURN_COUNT)];
    const number = (at: number) => bytes.readDoubleLE(at);
    const names = first + 2 * NUMBER_BYTES * count;
    const place = (at: number) => bytes.readUInt32LE(at);
    return {
      ...(this.#has(ANSWERS) && {
        answers: this.#list(names + NAME_BYTES * count, this.#u32(ANSWER_COUNT), NAME_BYTES, place),
      }),
      tokens: this.#list(first, count, NUMBER_BYTES, (at) => orUnknown(number(at))),
      ms: this.#list(first + NUMBER_BYTES * count, count, NUMBER_BYTES, number),
      finish: this.#text(FINISH)!,
      reasons: this.#list(names, count, NAME_BYTES, (at) => this.#names.all[place(at)]!),
      extracted: this.#text(FOUND),
      server: this.#name(SERVER),
      versions: [this.#double(LOWEST), this.#double(HIGHEST)],
    };
  }

  toJSON(): Row {
    const { index, query, title, sample, attempt, state, stop, reason, success, reward, endedAt, turns } = this;
    const { steered, flaw } = this;
    return {
      ...{ index, query, title, sample, attempt, state, stop, reason, success, reward, endedAt, turns },
      ...(steered && { steered }),
      ...(flaw !== undefined && { flaw }),
    };
  }

  #has(flag: number): boolean {
    return (this.#bytes[this.#at + FLAGS]! & flag) !== 0;
  }
  #u32(place: number): number {
    return this.#bytes.readUInt32LE(this.#at + place);
  }
  #double(place: number): number {
    return this.#bytes.readDoubleLE(this.#at + place);
  }
  #name(place: number): string | null {
    return this.#names.all[this.#u32(place)]!;
  }

  /** `from`: behind the head. */
  #list<T>(from: number, count: number, size: number, read: (at: number) => T): T[] {
    const first = this.#at + HEAD_BYTES + from;
    const found: T[] = [];
    for (let i = 0; i < count; i++) found.push(read(first + i * size));
    return found;
  }

  #text(place: (typeof TEXTS)[number]): string | null {
    const length = this.#u32(place);
    if (length === 0) return null;
    const perTurn = 2 * NUMBER_BYTES + NAME_BYTES;
    const lists = this.#u32(JUDGED) + perTurn * this.#u32(TURN_COUNT) + NAME_BYTES * this.#u32(ANSWER_COUNT);
    let at = this.#at + HEAD_BYTES + lists;
    for (const other of TEXTS) {
      if (other === place) break;
      at += bytesOf(this.#u32(other));
    }
    return this.#bytes.toString(length % 2 === 1 ? 'utf16le' : 'latin1', at, at + bytesOf(length));
  }
}

const bytesOf = (length: number): number => (length === 0 ? 0 : ((length >> 1) - 1) * (length % 2 === 1 ? 2 : 1));

const isSmall = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 30;
const isText = (value: unknown): boolean => typeof value === 'string' && value.length < 2 ** 28;
const isName = (value: unknown): boolean => value === null || typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';

/** The facts of a planted record may be anything. */
function hasForm(row: Row): boolean {
  return (
    row.state !== 'open' &&
    STATES.includes(row.state) &&
    row.marks === undefined &&
    row.doing === undefined &&
    (row.index === null || isSmall(row.index)) &&
    isSmall(row.sample) &&
    isSmall(row.attempt) &&
    [row.query, row.title, row.flaw ?? ''].every(isText) &&
    [row.stop, row.reason].every(isName) &&
    [row.reward ?? 0, row.endedAt ?? 0].every(isNumber) &&
    Array.isArray(row.success) &&
    row.success.every((value) => value === 0 || value === 1 || value === null) &&
    (row.turns === null || haveForm(row.turns))
  );
}

/** Tokens that nobody knows are stored as NaN. */
const orUnknown = (tokens: number): number | null => (Number.isNaN(tokens) ? null : tokens);

function haveForm({ tokens, ms, reasons, answers, finish, extracted, server, versions }: Glance): boolean {
  return (
    ms.length === tokens.length &&
    reasons.length === tokens.length &&
    [...tokens.map((value) => value ?? 0), ...ms, ...versions].every(isNumber) &&
    reasons.every((reason) => typeof reason === 'string') &&
    (answers ?? []).every(isSmall) &&
    isText(finish) &&
    (extracted === null || isText(extracted)) &&
    isName(server)
  );
}
