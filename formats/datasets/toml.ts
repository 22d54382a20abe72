// TOML 1.0 as files of settings have it: tables, lists of tables, texts, numbers, truth values, lists and inline tables. A date is
// its text. Throws a TomlError with the line of the fault. Gap: `inf` and `nan` are refused.

export type Toml = string | number | boolean | readonly Toml[] | TomlTable;
export interface TomlTable {
  readonly [key: string]: Toml;
}

export class TomlError extends Error {}

export const parseToml = (text: string): TomlTable => new Reader(text).table() as TomlTable;

/** While it is read. */
type Open = Record<string, unknown>;
const newTable = (): Open => Object.create(null) as Open;

const SPACE = /[ \t]*/y;
const BLANK = /(?:[ \t\r\n]|#[^\n]*)*/y;
const BARE = /[\w-]+/y;
const ONE_LINE = [/'([^'\n]*)'/y, /"((?:[^"\\\n]|\\.)*)"/y] as const;
const LONG = [/'''\r?\n?([\s\S]*?'{0,2})'''(?!')/y, /"""\r?\n?((?:[^\\]|\\[\s\S])*?"{0,2})"""(?!")/y] as const;
const SCALAR = /[^\s,\]}#]+(?: \d\d:[^\s,\]}#]+)?/y;
const DECIMAL = /^[+-]?(?:0|[1-9](?:_?\d)*)(?:\.\d(?:_?\d)*)?(?:[eE][+-]?\d(?:_?\d)*)?$/;
const OTHER_BASE = /^0(?:x[\da-fA-F](?:_?[\da-fA-F])*|o[0-7](?:_?[0-7])*|b[01](?:_?[01])*)$/;
const DATE = /^(?:\d{4}-\d\d-\d\d|\d\d:\d\d)/;
const ESCAPE = /\\(?:u([\da-fA-F]{4})|U([\da-fA-F]{8})|[ \t]*\r?\n\s*|([\s\S]))/g;
const SIGNS: Readonly<Record<string, string>> = {
  ...{ b: '\b', t: '\t', n: '\n', f: '\f', r: '\r', '"': '"', '\\': '\\' },
};
const MOST_SHOWN = 40;

class Reader {
  readonly #text: string;
  #at = 0;
  /** Lists and tables in one line: nothing is added to them. */
  readonly #closed = new Set<unknown>();

  constructor(text: string) {
    this.#text = text;
  }

  table(): Open {
    const root = newTable();
    const headers = new Set<Open>();
    this.#take(BLANK);
    this.#pairs(root);
    while (this.#at < this.#text.length) {
      const table = this.#takes('[[') ? this.#added(root) : this.#header(root, headers);
      this.#lineEnd();
      this.#pairs(table);
    }
    return root;
  }

  #header(root: Open, headers: Set<Open>): Open {
    this.#must('[');
    const path = this.#keys();
    this.#must(']');
    const table = this.#within(root, path);
    if (headers.has(table)) this.#fail(`[${path.join('.')}] stands twice`);
    headers.add(table);
    return table;
  }

  /** One more table of a list. */
  #added(root: Open): Open {
    const path = this.#keys();
    this.#must(']]');
    const key = path.pop()!;
    const all = (this.#within(root, path)[key] ??= []);
    if (!Array.isArray(all) || this.#closed.has(all)) this.#fail(`${key} is no list of tables`);
    const table = newTable();
    (all as Open[]).push(table);
    return table;
  }

  /** Up to the next header. */
  #pairs(table: Open): void {
    for (; this.#at < this.#text.length && this.#text[this.#at] !== '['; this.#lineEnd()) this.#pair(table);
  }

  #pair(table: Open): void {
    const path = this.#keys();
    const key = path.pop()!;
    const inner = this.#within(table, path);
    this.#must('=');
    this.#take(SPACE);
    if (Object.hasOwn(inner, key)) this.#fail(`${key} stands twice`);
    inner[key] = this.#value();
  }

  #keys(): string[] {
    const path: string[] = [];
    do {
      this.#take(SPACE);
      path.push(this.#take(BARE)?.[0] ?? this.#quoted(ONE_LINE) ?? this.#fail('a key is missing'));
      this.#take(SPACE);
    } while (this.#takes('.'));
    return path;
  }

  /** The table at a path; of a list of tables its last one. */
  #within(table: Open, path: readonly string[]): Open {
    let inner: unknown = table;
    for (const key of path) {
      const is: unknown = ((inner as Open)[key] ??= newTable());
      inner = Array.isArray(is) && !this.#closed.has(is) ? is.at(-1) : is;
      if (typeof inner !== 'object' || inner === null || this.#closed.has(inner))
        this.#fail(`${key} is no table that can be added to`);
    }
    return inner as Open;
  }

  #value(): unknown {
    if (this.#takes('[')) return this.#many(']', (all: unknown[]) => all.push(this.#value()), []);
    if (this.#takes('{')) return this.#many('}', (table: Open) => this.#pair(table), newTable());
    const words = this.#quoted(LONG) ?? this.#quoted(ONE_LINE);
    if (words !== undefined) return words;
    const word = this.#take(SCALAR)?.[0] ?? this.#fail('a value is missing');
    if (word === 'true' || word === 'false') return word === 'true';
    if (DECIMAL.test(word) || OTHER_BASE.test(word)) return Number(word.replaceAll('_', ''));
    return DATE.test(word) ? word : this.#fail(`${word.slice(0, MOST_SHOWN)} is no value`);
  }

  #many<T>(end: string, add: (all: T) => unknown, all: T): T {
    for (this.#take(BLANK); !this.#takes(end); this.#take(BLANK)) {
      add(all);
      this.#take(BLANK);
      if (!this.#takes(',') && this.#text[this.#at] !== end) this.#fail(`${end} is missing`);
    }
    this.#closed.add(all);
    return all;
  }

  #quoted([literal, basic]: readonly [RegExp, RegExp]): string | undefined {
    const plain = this.#take(literal);
    if (plain) return plain[1]!;
    return this.#take(basic)?.[1]!.replace(ESCAPE, (_, four?: string, eight?: string, sign?: string) => {
      const code = four ?? eight;
      if (code !== undefined) return this.#character(Number.parseInt(code, 16));
      return sign === undefined ? '' : (SIGNS[sign] ?? this.#fail(`\\${sign} is no escape`));
    });
  }

  #character(code: number): string {
    const exists = code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return exists ? String.fromCodePoint(code) : this.#fail('an escape names no character');
  }

  #lineEnd(): void {
    const from = this.#at;
    this.#take(BLANK);
    if (this.#at < this.#text.length && !this.#text.slice(from, this.#at).includes('\n'))
      this.#fail('the line goes on behind its end');
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    this.#at += found?.[0].length ?? 0;
    return found;
  }

  #takes(sign: string): boolean {
    const isThere = this.#text.startsWith(sign, this.#at);
    if (isThere) this.#at += sign.length;
    return isThere;
  }

  #must(sign: string): void {
    if (!this.#takes(sign)) this.#fail(`${sign} is missing`);
  }

  #fail(problem: string): never {
    throw new TomlError(`line ${this.#text.slice(0, this.#at).split('\n').length}: ${problem}`);
  }
}
