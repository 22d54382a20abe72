// Makes the JavaScript engine tokenise as the Rust tokenizers do, which Python and every inference server use. The
// engine's parts are replaced where they differ; docs/tokenizers.md names what is left. Made for
// @huggingface/tokenizers 0.2.0, whose insides it knows; test/inference/parity.test.ts holds it to its word.

import type { Tokenizer } from '@huggingface/tokenizers';

import { mendDecoder, type Decoder } from './decoders.ts';
import { mendNormalizer, type Normalizer } from './normalizers.ts';
import { mendPreTokenizer, type PreTokenizer } from './pre-tokenizers.ts';
import { trimEndAsRust, trimStartAsRust } from './unicode.ts';

interface Splitter {
  split(text: string): string[];
}

interface AddedToken {
  lstrip: boolean;
  rstrip: boolean;
}

interface Model {
  readonly tokens_to_ids: ReadonlyMap<string, number>;
  encode(tokens: string[]): string[];
}

interface Engine {
  readonly tokenizer: Readonly<Record<string, Record<string, unknown> | null>>;
  readonly normalizer: Normalizer | null;
  readonly pre_tokenizer: PreTokenizer | null;
  readonly decoder: Decoder | null;
  readonly model: Model;
  readonly splitter_unnormalized: Splitter;
  readonly splitter_normalized: Splitter;
  readonly added_tokens_map: ReadonlyMap<string, AddedToken>;
}

/** `tokenizer` must be new: nothing is undone. */
export function mend(tokenizer: Tokenizer): void {
  const engine = tokenizer as unknown as Engine;
  const { normalizer, pre_tokenizer, decoder, model } = engine.tokenizer;
  mendNormalizer(engine.normalizer, normalizer ?? {});
  mendPreTokenizer(engine.pre_tokenizer, pre_tokenizer ?? {});
  mendDecoder(engine.decoder, decoder ?? {});
  if (model?.['type'] === 'Unigram' && model['byte_fallback'] === true) mendUnigram(engine.model);
  mendAddedTokens(engine);
}

/** White space around added tokens that take it along is Rust's, and not JavaScript's. */
function mendAddedTokens({ added_tokens_map, splitter_unnormalized, splitter_normalized }: Engine): void {
  const greedy = new Map<string, { readonly left: boolean; readonly right: boolean }>();
  for (const [content, token] of added_tokens_map)
    if (token.lstrip || token.rstrip) greedy.set(content, { left: token.lstrip, right: token.rstrip });
  if (greedy.size === 0) return;
  for (const token of added_tokens_map.values()) token.lstrip = token.rstrip = false;
  for (const splitter of [splitter_unnormalized, splitter_normalized]) {
    const split = splitter.split.bind(splitter);
    splitter.split = (text) => {
      const sections = split(text);
      sections.forEach((section, i) => {
        const takes = greedy.get(section);
        if (takes?.left && i > 0) sections[i - 1] = trimEndAsRust(sections[i - 1]!);
        if (takes?.right && i < sections.length - 1) sections[i + 1] = trimStartAsRust(sections[i + 1]!);
      });
      return sections;
    };
  }
}

/** The engine knows byte fallback for BPE only. */
function mendUnigram(model: Model): void {
  const encode = model.encode.bind(model);
  const bytes = new TextEncoder();
  model.encode = (tokens) =>
    encode(tokens).flatMap((piece) => {
      if (model.tokens_to_ids.has(piece)) return [piece];
      const names = Array.from(
        bytes.encode(piece),
        (byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
      );
      return names.every((name) => model.tokens_to_ids.has(name)) ? names : [piece];
    });
}
