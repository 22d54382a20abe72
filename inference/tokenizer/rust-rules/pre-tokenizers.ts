// How the Rust tokenizers cut a text into words: the same cuts for every pre-tokenizer that goes by a pattern.

import { PUNCTUATION, withoutNewCharacters } from './unicode.ts';

export interface PreTokenizer {
  /** Of a sequence. */
  readonly tokenizers?: readonly (PreTokenizer | null)[];
  readonly pattern?: RegExp | null;
  pre_tokenize_text(text: string, options?: unknown): string[];
}

type Behaviour = 'removed' | 'isolated' | 'mergedwithprevious' | 'mergedwithnext' | 'contiguous';

const GPT2 =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;
const WORD = '[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]';
const WORDS = new RegExp(`${WORD}+|[^\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}\\p{White_Space}]+`, 'gu');

type Config = Readonly<Record<string, unknown>>;

export function mendPreTokenizer(part: PreTokenizer | null, config: Config): void {
  if (!part) return;
  const nested = (config['pretokenizers'] ?? []) as Config[];
  part.tokenizers?.forEach((inner, i) => mendPreTokenizer(inner, nested[i] ?? {}));
  const cut = cutterOf(config, part.pattern ?? null);
  if (cut) part.pre_tokenize_text = cut;
  else if (config['type'] === 'ByteLevel') mendByteLevel(part);
  else if (config['type'] === 'Metaspace' && config['split'] !== false) mendMetaspace(part, config);
}

function cutterOf(config: Config, pattern: RegExp | null): ((text: string) => string[]) | null {
  const behaviour = String(config['behavior'] ?? 'isolated').toLowerCase() as Behaviour;
  switch (config['type']) {
    case 'Split':
      return pattern && ((text) => cuts(text, pattern, behaviour, config['invert'] === true));
    case 'Punctuation':
      return (text) => cuts(text, PUNCTUATION, behaviour, false);
    case 'Digits':
      return (text) => cuts(text, /\p{N}/gu, config['individual_digits'] ? 'isolated' : 'contiguous', false, text);
    case 'Whitespace':
      return (text) => cuts(text, WORDS, 'removed', true);
    case 'WhitespaceSplit':
      return (text) => cuts(text, /\p{White_Space}/gu, 'removed', false);
    case 'BertPreTokenizer':
      return (text) =>
        cuts(text, /\p{White_Space}/gu, 'removed', false).flatMap((word) => cuts(word, PUNCTUATION, 'isolated', false));
    default:
      return null;
  }
}

/** Rust's split: matches and what lies between them, then what `behaviour` makes of both. `known` is what Rust makes of the text. */
function cuts(
  text: string,
  pattern: RegExp,
  behaviour: Behaviour,
  invert: boolean,
  known = withoutNewCharacters(text),
): string[] {
  const pieces: { text: string; match: boolean }[] = [];
  const add = (from: number, to: number, match: boolean) => {
    if (to > from) pieces.push({ text: text.slice(from, to), match: match !== invert });
  };
  let at = 0;
  for (const { 0: found, index } of known.matchAll(pattern)) {
    add(at, index, false);
    add(index, index + found.length, true);
    at = index + found.length;
  }
  add(at, text.length, false);
  if (behaviour === 'removed') return pieces.filter(({ match }) => !match).map((piece) => piece.text);
  if (behaviour === 'isolated') return pieces.map((piece) => piece.text);
  const joined: string[] = [];
  pieces.forEach((piece, i) => {
    const before = pieces[i - 1];
    const joins =
      before !== undefined &&
      (behaviour === 'contiguous'
        ? before.match === piece.match
        : behaviour === 'mergedwithprevious'
          ? piece.match && !before.match
          : before.match && !piece.match);
    if (joins) joined[joined.length - 1] += piece.text;
    else joined.push(piece.text);
  });
  return joined;
}

interface ByteLevel {
  readonly use_regex: boolean;
  readonly add_prefix_space: boolean;
  readonly byte_encoder: Readonly<Record<number, string>>;
}

/** The engine has GPT-2's pattern with JavaScript's white space. */
function mendByteLevel(part: PreTokenizer): void {
  const { use_regex, add_prefix_space, byte_encoder } = part as unknown as ByteLevel;
  if (!use_regex) return;
  const utf8 = new TextEncoder();
  part.pre_tokenize_text = (text) => {
    const spaced = add_prefix_space && !text.startsWith(' ') ? ` ${text}` : text;
    const words = cuts(spaced, GPT2, 'isolated', false);
    return words.map((word) => Array.from(utf8.encode(word), (byte) => byte_encoder[byte]).join(''));
  };
}

/** The engine does not cut at the marks. */
function mendMetaspace(part: PreTokenizer, config: Config): void {
  const mark = new RegExp(String(config['replacement'] ?? '▁'), 'gu');
  const marked = part.pre_tokenize_text.bind(part);
  part.pre_tokenize_text = (text, options) =>
    marked(text, options).flatMap((piece) => cuts(piece, mark, 'mergedwithnext', false));
}
