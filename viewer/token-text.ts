// The text of each token of an answer, from the run's tokenizer. Byte-level tokenizers spread a character over tokens:
// those are one cell. Guarantee: the joined cells are the recorded text, or there are no texts and a reason.

import type { TokenSpan } from './model/messages.ts';

/** The part of a tokenizer that is needed. */
export interface TokenDecoder {
  /** The text of each list of ids, special tokens included. */
  decodeLists(lists: readonly (readonly number[])[]): Promise<string[]>;
}

const BROKEN = '\ufffd';
/** A character has at most four bytes; a few more for tokenizers that join across tokens. */
const MOST_TOGETHER = 8;

/** Undefined if the ids do not give this text. */
export async function tokenSpan(
  decoder: TokenDecoder,
  ids: readonly number[],
  text: string,
): Promise<TokenSpan | undefined> {
  const alone = await decoder.decodeLists(ids.map((id) => [id]));
  return (await cells(decoder, ids, alone, text)) ?? (await bySuffix(decoder, ids, text));
}

/** Tokens whose texts follow each other in the text; several at once where one alone is a part of a character. */
async function cells(
  decoder: TokenDecoder,
  ids: readonly number[],
  alone: readonly string[],
  text: string,
): Promise<TokenSpan | undefined> {
  const texts: string[] = [];
  const lengths: number[] = [];
  let at = 0;
  for (let i = 0; i < ids.length; i += lengths.at(-1)!) {
    let piece = alone[i]!;
    let length = 1;
    while (piece.includes(BROKEN) && !text.startsWith(piece, at) && length < MOST_TOGETHER && i + length < ids.length) {
      length++;
      [piece = BROKEN] = await decoder.decodeLists([ids.slice(i, i + length)]);
    }
    if (!text.startsWith(piece, at)) return undefined;
    at += piece.length;
    texts.push(piece);
    lengths.push(length);
  }
  return at === text.length ? span(ids, texts, lengths) : undefined;
}

const WINDOW = 6;

/** For tokenizers that drop or add a space at the beginning: a token's text is what it adds to those before it. */
async function bySuffix(decoder: TokenDecoder, ids: readonly number[], text: string): Promise<TokenSpan | undefined> {
  const upTo = (i: number, end: number) => ids.slice(Math.max(0, i - WINDOW), end);
  const [before, after] = await Promise.all([
    decoder.decodeLists(ids.map((_, i) => upTo(i, i))),
    decoder.decodeLists(ids.map((_, i) => upTo(i, i + 1))),
  ]);
  const pieces = ids.map((_, i) => (after[i]!.startsWith(before[i]!) ? after[i]!.slice(before[i]!.length) : undefined));
  return pieces.every((piece) => piece !== undefined) && pieces.join('') === text
    ? span(ids, pieces as string[], [])
    : undefined;
}

function span(ids: readonly number[], texts: readonly string[], lengths: readonly number[]): TokenSpan {
  return { ids, texts, ...(lengths.some((length) => length > 1) && { lengths }) };
}
