// Small tokenizers of the families that language models use, trained by the Rust library on seeded text: the
// shape of each tokenizer.json (normalizer, pre-tokenizer, decoder, added tokens) is the family's own.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import rust from 'tokenizers';
import { randomSource, someWord } from './texts.ts';
import { fixture } from './tiny.ts';

type Json = Record<string, unknown>;
export type Family = 'qwen' | 'llama3' | 'deepseek' | 'gpt2' | 'llama2' | 'mistral' | 'gemma';

interface Shape {
  readonly model: 'byte-level' | 'pieces';
  readonly modelOptions?: Json;
  readonly normalizer?: Json;
  readonly preTokenizer?: Json;
  readonly decoder: Json;
  readonly postProcessor?: Json;
}

/** Of Qwen 2 to 3; Llama 3; DeepSeek V3 and R1; GPT-2; Llama 2 and Phi-3 (SentencePiece as first converted); Mistral; Gemma. */
const FAMILIES = fixture('tokenizer-families.json') as Readonly<Record<Family, Shape>>;

export const FAMILY_NAMES = Object.keys(FAMILIES) as Family[];

export interface AddedToken {
  readonly content: string;
  readonly special: boolean;
  readonly rstrip?: boolean;
  readonly lstrip?: boolean;
}

/** tokenizer.json of a family. `<unk>`, `<s>` and `</s>` are ids 0, 1 and 2 in all of them. */
export function trainTokenizer(family: Family, added: readonly AddedToken[]): string {
  const shape = FAMILIES[family];
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
