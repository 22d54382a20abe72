// The tokens of one turn as a message: texts by the run's tokenizer if there is one, whether they carry loss, and why not.

import type { TurnRecord } from '../domain/rollout/turn.ts';
import type { TokensMessage, TokenSpan } from './model/messages.ts';

/** `outcome`: undefined while the rollout is open. `decoder`: or the reason why there is none. */
export async function tokensMessage(
  record: TurnRecord,
  outcome: string | undefined,
  decoder: TokenDecoder | string,
): Promise<TokensMessage> {
  const { turn, contextIds, contextText, outputIds, outputText, logprobs, textLogprobs, contextLength } = record;
  const why =
    record.trainable === false
      ? 'the server returned text only'
      : outcome === undefined
        ? 'the rollout has not ended'
        : outcome === 'complete'
          ? null
          : `the rollout is ${outcome}`;
  const isText = outputIds.length === 0 && textLogprobs !== undefined;
  const [shown, said] =
    isText || typeof decoder === 'string'
      ? []
      : await Promise.all([tokenSpan(decoder, contextIds, contextText), tokenSpan(decoder, outputIds, outputText)]);
  const noText =
    typeof decoder === 'string'
      ? decoder
      : said
        ? null
        : 'this tokenizer does not give the recorded text for these ids';
  return {
    turn,
    versions: record.versions,
    logprobsOf: record.logprobsFound ?? record.logprobsOf ?? 'policy',
    trained: why === null,
    whyNotTrained: why,
    offset: contextLength,
    context: shown ?? { ids: contextIds, texts: [] },
    ...(isText
      ? {
          output: { ids: [], texts: textLogprobs.map(({ token }) => token) },
          logprobs: textLogprobs.map(({ logprob }) => logprob),
          noText: null,
        }
      : { output: said ?? { ids: outputIds, texts: [] }, logprobs, noText }),
  };
}

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
