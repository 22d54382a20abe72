// Character by character: normalised and cut as the Rust tokenizers do it, among others that each could move, join or
// leave. Of blocks that hold one kind of character only, every 61st is tried.

import { Tokenizer as Engine } from '@huggingface/tokenizers';
import { Tokenizer } from 'tokenizers';
import { expect, test } from 'vitest';
import { mend } from '../../inference/tokenizer/rust-rules/mend.ts';

const PER_TEXT = 256;
const EMPTY = {
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: [],
  post_processor: null,
  decoder: null,
  normalizer: null,
  pre_tokenizer: null,
  model: { type: 'BPE', vocab: { a: 0 }, merges: [] },
};
const BERT = {
  type: 'BertNormalizer',
  clean_text: true,
  handle_chinese_chars: true,
  strip_accents: null,
  lowercase: true,
};
const QWEN =
  "(?i:'s|'t)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
const DEEPSEEK = '[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*';

/** Ideographs, Hangul, Tangut, private use, and what is not assigned. */
const UNIFORM = /[\u3400-\u9fff\uac00-\ud7a3\u{17000}-\u{18cff}\u{20000}-\u{10ffff}\p{Co}\p{Cn}]/u;

function* characters(): Generator<string[]> {
  let batch: string[] = [];
  for (let code = 0; code <= 0x10ffff; code++) {
    if (code % 61 !== 0 && UNIFORM.test(String.fromCodePoint(code))) continue;
    if (code >= 0xd800 && code < 0xe000) continue;
    batch.push(String.fromCodePoint(code));
    if (batch.length === PER_TEXT) {
      yield batch;
      batch = [];
    }
  }
  yield batch;
}

function differing(inText: (char: string) => string, same: (text: string) => boolean): string[] {
  const found: string[] = [];
  for (const batch of characters()) {
    if (same(batch.map(inText).join(''))) continue;
    for (const char of batch) if (!same(inText(char))) found.push(char.codePointAt(0)!.toString(16));
  }
  return found;
}

test.each([
  { type: 'NFC' },
  { type: 'NFD' },
  { type: 'NFKC' },
  { type: 'NFKD' },
  { type: 'Lowercase' },
  { type: 'Strip', strip_left: true, strip_right: true },
  BERT,
])('every character is normalised as by Rust’s $type', (normalizer) => {
  const json = { ...EMPTY, normalizer };
  const theirs = Tokenizer.fromString(JSON.stringify(json)).getNormalizer()!;
  const engine = new Engine(json, {});
  mend(engine);
  const ours = engine.normalizer!;
  const inText = (char: string) => `${char}\u0307 a\u0345${char}\u0334b\n`;
  expect(differing(inText, (text) => ours.normalize(text) === theirs.normalizeString(text))).toEqual([]);
});

test.each([
  { type: 'Split', pattern: { Regex: QWEN }, behavior: 'Isolated', invert: false },
  { type: 'Split', pattern: { Regex: DEEPSEEK }, behavior: 'Contiguous', invert: false },
  { type: 'Split', pattern: { Regex: '\\p{N}|\\s' }, behavior: 'MergedWithPrevious', invert: true },
  { type: 'Split', pattern: { Regex: '\\p{P}|\\s' }, behavior: 'MergedWithNext', invert: false },
  { type: 'Split', pattern: { Regex: '\\p{L}+|\\d' }, behavior: 'Removed', invert: false },
  { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
  { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true },
  { type: 'BertPreTokenizer' },
  { type: 'Digits', individual_digits: false },
  { type: 'Punctuation', behavior: 'Contiguous' },
  { type: 'Whitespace' },
  { type: 'WhitespaceSplit' },
])('every character is cut as by Rust’s $type', (preTokenizer) => {
  const json = { ...EMPTY, pre_tokenizer: preTokenizer };
  const theirs = Tokenizer.fromString(JSON.stringify(json)).getPreTokenizer()!;
  const engine = new Engine(json, {});
  mend(engine);
  const ours = engine.pre_tokenizer!;
  const inText = (char: string) => `a${char}b 1.${char} ${char}${char}2\n${char} `;
  const cutByRust = (text: string) => theirs.preTokenizeString(text).map(([piece]) => piece);
  expect(differing(inText, (text) => ours.pre_tokenize_text(text).join('\0') === cutByRust(text).join('\0'))).toEqual(
    [],
  );
});
