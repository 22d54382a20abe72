// Small tokenizers of the families that language models use, trained by the Rust library on seeded text: the
// shape of each tokenizer.json (normalizer, pre-tokenizer, decoder, added tokens) is the family's own.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import rust from 'tokenizers';
import { randomSource, someWord } from './texts.ts';

type Json = Record<string, unknown>;
export type Family = keyof typeof FAMILIES;

interface Shape {
  readonly model: 'byte-level' | 'pieces';
  readonly modelOptions?: Json;
  readonly normalizer?: Json;
  readonly preTokenizer?: Json;
  readonly decoder: Json;
  readonly postProcessor?: Json;
}

const BYTE_LEVEL = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false };
const BYTE_DECODER = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false };
const split = (Regex: string) => ({ type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false });
const sequence = (...pretokenizers: Json[]) => ({ type: 'Sequence', pretokenizers });
const CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const WORDS = '[^\\r\\n\\p{L}\\p{N}]?\\p{L}+';
const REST = ' ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';
const SPACE_TO_BAR = { type: 'Replace', pattern: { String: ' ' }, content: '▁' };
const BAR_TO_SPACE = { type: 'Replace', pattern: { String: '▁' }, content: ' ' };
const STRIP_ONE = { type: 'Strip', content: ' ', start: 1, stop: 0 };
const piecesDecoder = (...more: Json[]) => ({
  type: 'Sequence',
  decoders: [BAR_TO_SPACE, { type: 'ByteFallback' }, { type: 'Fuse' }, ...more],
});

const FAMILIES = {
  /** Qwen2, Qwen2.5, Qwen3. */
  qwen: {
    model: 'byte-level',
    normalizer: { type: 'NFC' },
    preTokenizer: sequence(split(`${CONTRACTIONS}|${WORDS}|\\p{N}|${REST}`), BYTE_LEVEL),
    decoder: BYTE_DECODER,
  },
  /** Llama 3: groups of three digits, a BOS. */
  llama3: {
    model: 'byte-level',
    modelOptions: { ignore_merges: true },
    preTokenizer: sequence(split(`${CONTRACTIONS}|${WORDS}|\\p{N}{1,3}|${REST}`), BYTE_LEVEL),
    decoder: BYTE_DECODER,
    postProcessor: bosFirst('<s>'),
  },
  /** DeepSeek V3 and R1: three splits. */
  deepseek: {
    model: 'byte-level',
    preTokenizer: sequence(
      split('\\p{N}{1,3}'),
      split('[一-龥぀-ゟ゠-ヿ]+'),
      split(
        '[!"#$%&\'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+',
      ),
      BYTE_LEVEL,
    ),
    decoder: BYTE_DECODER,
    postProcessor: bosFirst('<s>'),
  },
  /** GPT-2, and what took over its built-in pattern. */
  gpt2: {
    model: 'byte-level',
    preTokenizer: { ...BYTE_LEVEL, use_regex: true },
    decoder: BYTE_DECODER,
  },
  /** Llama 2, Phi-3, TinyLlama, Zephyr: SentencePiece BPE, as first converted. */
  llama2: {
    model: 'pieces',
    normalizer: { type: 'Sequence', normalizers: [{ type: 'Prepend', prepend: '▁' }, SPACE_TO_BAR] },
    decoder: piecesDecoder(STRIP_ONE),
    postProcessor: bosFirst('<s>'),
  },
  /** Mistral: the same, converted anew. */
  mistral: {
    model: 'pieces',
    preTokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'first', split: false },
    decoder: piecesDecoder(STRIP_ONE),
    postProcessor: bosFirst('<s>'),
  },
  /** Gemma: no space before the first word. */
  gemma: {
    model: 'pieces',
    normalizer: SPACE_TO_BAR,
    preTokenizer: { type: 'Split', pattern: { String: ' ' }, behavior: 'MergedWithPrevious', invert: false },
    decoder: piecesDecoder(),
    postProcessor: bosFirst('<s>'),
  },
} as const satisfies Record<string, Shape>;

export const FAMILY_NAMES = Object.keys(FAMILIES) as Family[];

/** A BOS before every text that is encoded with special tokens. */
function bosFirst(bos: string): Json {
  const item = { SpecialToken: { id: bos, type_id: 0 } };
  return {
    type: 'TemplateProcessing',
    single: [item, { Sequence: { id: 'A', type_id: 0 } }],
    pair: [item, { Sequence: { id: 'A', type_id: 0 } }, item, { Sequence: { id: 'B', type_id: 1 } }],
    special_tokens: { [bos]: { id: bos, ids: [1], tokens: [bos] } },
  };
}

export interface AddedToken {
  readonly content: string;
  readonly special: boolean;
  readonly rstrip?: boolean;
  readonly lstrip?: boolean;
}

/** tokenizer.json of a family. `<unk>`, `<s>` and `</s>` are ids 0, 1 and 2 in all of them. */
export function trainTokenizer(family: Family, added: readonly AddedToken[]): string {
  const shape: Shape = FAMILIES[family];
  const model = { ...trainedModel(shape), ...shape.modelOptions };
  const size = Array.isArray(model['vocab']) ? model['vocab'].length : Object.keys(model['vocab'] as Json).length;
  const token = ({ content, special, rstrip = false, lstrip = false }: AddedToken, id: number) => ({
    ...{ id, content, special, rstrip, lstrip },
    single_word: false,
    normalized: false,
  });
  return JSON.stringify({
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [
      ...BASE_TOKENS.map((content, id) => token({ content, special: true }, id)),
      ...added.map((each, i) => token(each, size + i)),
    ],
    normalizer: shape.normalizer ?? null,
    pre_tokenizer: shape.preTokenizer ?? null,
    post_processor: shape.postProcessor ?? null,
    decoder: shape.decoder,
    model,
  });
}

const BASE_TOKENS = ['<unk>', '<s>', '</s>'];

function trainedModel({ model, normalizer, preTokenizer }: Shape): Json {
  const folder = mkdtempSync(join(tmpdir(), 'everturn-tokenizer-'));
  try {
    const text = join(folder, 'text.txt');
    const file = join(folder, 'tokenizer.json');
    writeFileSync(text, corpus());
    const blank = new rust.Tokenizer(rust.BPE.empty());
    blank.save(file);
    const json = { ...(JSON.parse(readFileSync(file, 'utf8')) as Json) };
    // Without words, a BPE of pieces would learn whole sentences.
    const pieces = { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true };
    json['normalizer'] = model === 'pieces' ? null : (normalizer ?? null);
    json['pre_tokenizer'] = model === 'pieces' ? pieces : (preTokenizer ?? null);
    const trainee = rust.Tokenizer.fromString(JSON.stringify(json));
    trainee.train([text]);
    trainee.save(file);
    return completed(model, (JSON.parse(readFileSync(file, 'utf8')) as { model: Json }).model);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The trained model with the base tokens first, and with all bytes in it. */
function completed(kind: Shape['model'], model: Json): Json {
  const learnt = Object.entries(model['vocab'] as Record<string, number>).sort((a, b) => a[1] - b[1]);
  const bytes = {
    'byte-level': rust.byteLevelAlphabet().sort(),
    pieces: Array.from({ length: 256 }, (_, i) => `<0x${i.toString(16).toUpperCase().padStart(2, '0')}>`),
  }[kind];
  const names = [...new Set([...BASE_TOKENS, ...bytes, ...learnt.map(([piece]) => piece)])];
  const vocab = Object.fromEntries(names.map((name, id) => [name, id]));
  if (kind === 'pieces') return { ...model, vocab, byte_fallback: true, fuse_unk: true, unk_token: '<unk>' };
  return { ...model, vocab };
}

/** Enough words for a thousand tokens; always the same. */
function corpus(): string {
  const random = randomSource(11);
  const words = Array.from({ length: 400 }, () => someWord(random));
  return Array.from({ length: 500 }, () =>
    Array.from({ length: 4 + random(12) }, () => words[Math.min(random(400), random(400))]).join(' '),
  ).join('\n');
}
