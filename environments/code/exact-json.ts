// Parses JSON without loss: whole numbers of any size stay exact and distinct from floats. For values that a hostile
// program wrote: depth is bounded, and time depends only on the text's length.

/** A JSON value as Python's json module reads it: `1` is a bigint, `1.0` and `1e3` are numbers, NaN included. */
export type ExactValue =
  null | boolean | bigint | number | string | readonly ExactValue[] | { readonly [key: string]: ExactValue };

const MAX_DEPTH = 200;
/** Parsing a longer whole number could take seconds. */
const MAX_DIGITS = 100_000;
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const BLANK = /[ \t\r\n]*/y;
const WORD = /null|true|false|NaN|-?Infinity/y;
const WORDS: Readonly<Record<string, ExactValue>> = {
  null: null,
  true: true,
  false: false,
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
};

/** Undefined if the text is not JSON, is nested deeper than 200 levels or has a number of over 100,000 digits. */
export function parseExactJson(text: string): ExactValue | undefined {
  const reader = new Reader(text);
  try {
    const value = reader.value(0);
    reader.blank();
    return reader.at === text.length ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

class Reader {
  at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  blank(): void {
    BLANK.lastIndex = this.at;
    BLANK.exec(this.#text);
    this.at = BLANK.lastIndex;
  }

  value(depth: number): ExactValue {
    if (depth > MAX_DEPTH) throw new SyntaxError('nested too deep');
    this.blank();
    const first = this.#text[this.at];
    if (first === '[') return this.#list(depth);
    if (first === '{') return this.#object(depth);
    if (first === '"') return this.#string();
    WORD.lastIndex = this.at;
    const word = WORD.exec(this.#text)?.[0];
    if (word === undefined) return this.#number();
    this.at += word.length;
    return WORDS[word] ?? null;
  }

  #list(depth: number): ExactValue {
    const items: ExactValue[] = [];
    this.at++;
    if (this.#takes(']')) return items;
    do items.push(this.value(depth + 1));
    while (this.#takes(','));
    this.#must(']');
    return items;
  }

  #object(depth: number): ExactValue {
    const object: Record<string, ExactValue> = Object.create(null) as Record<string, ExactValue>;
    this.at++;
    if (this.#takes('}')) return object;
    do {
      this.blank();
      const key = this.#string();
      this.#must(':');
      object[key] = this.value(depth + 1);
    } while (this.#takes(','));
    this.#must('}');
    return object;
  }

  #string(): string {
    const start = this.at;
    if (this.#text[start] !== '"') throw new SyntaxError(`no text at ${start}`);
    // A regular expression would need a stack as deep as the text is long.
    let end = start + 1;
    while (end < this.#text.length && this.#text[end] !== '"') end += this.#text[end] === '\\' ? 2 : 1;
    this.at = end + 1;
    return JSON.parse(this.#text.slice(start, this.at)) as string;
  }

  #number(): bigint | number {
    NUMBER.lastIndex = this.at;
    const found = NUMBER.exec(this.#text);
    if (!found || found[0].length > MAX_DIGITS) throw new SyntaxError(`no value at ${this.at}`);
    this.at = NUMBER.lastIndex;
    const [digits, fraction, exponent] = found;
    return fraction === undefined && exponent === undefined ? BigInt(digits) : Number(digits);
  }

  #takes(mark: string): boolean {
    this.blank();
    if (this.#text[this.at] !== mark) return false;
    this.at++;
    return true;
  }

  #must(mark: string): void {
    if (!this.#takes(mark)) throw new SyntaxError(`no ${mark} at ${this.at}`);
  }
}

/** The value of a parsed data set: its numbers are already JavaScript's. */
export function exactOf(value: unknown): ExactValue {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(exactOf);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, exactOf(item)]));
  return value as ExactValue;
}
