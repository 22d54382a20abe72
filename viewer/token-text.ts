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

/** The second for tokenizers that drop or add a space at the beginning. */
const TOKENS_BEFORE = [0, 6];

/** Undefined if the ids do not give this text. */
export async function tokenSpan(
  decoder: TokenDecoder,
  ids: readonly number[],
  text: string,
): Promise<TokenSpan | undefined> {
  for (const before of TOKENS_BEFORE) {
    const found = await cells(decoder, ids, text, before);
    if (found) return found;
  }
  return undefined;
}

/** A token's text is what it adds to so many before it; several are one cell where one alone is a part of a character. */
async function cells(
  decoder: TokenDecoder,
  ids: readonly number[],
  text: string,
  window: number,
): Promise<TokenSpan | undefined> {
  const upTo = (i: number, end: number) => ids.slice(Math.max(0, i - window), end);
  const [before, after] = await Promise.all([
    decoder.decodeLists(ids.map((_, i) => upTo(i, i))),
    decoder.decodeLists(ids.map((_, i) => upTo(i, i + 1))),
  ]);
  const added = (i: number, whole: string) => (whole.startsWith(before[i]!) ? whole.slice(before[i]!.length) : BROKEN);
  const texts: string[] = [];
  const lengths: number[] = [];
  let at = 0;
  for (let i = 0; i < ids.length; i += lengths.at(-1)!) {
    let piece = added(i, after[i]!);
    let length = 1;
    while (piece.includes(BROKEN) && !text.startsWith(piece, at) && length < MOST_TOGETHER && i + length < ids.length) {
      length++;
      const [whole = BROKEN] = await decoder.decodeLists([upTo(i, i + length)]);
      piece = added(i, whole);
    }
    if (!text.startsWith(piece, at)) return undefined;
    at += piece.length;
    texts.push(piece);
    lengths.push(length);
  }
  if (at < text.length) return undefined;
  return { ids, texts, ...(lengths.some((length) => length > 1) && { lengths }) };
}
