// The tokens of one turn as a message: texts by the run's tokenizer if there is one, whether they carry loss, and why not.

import type { TurnRecord } from '../domain/rollout/turn.ts';
import type { TokensMessage } from './model/messages.ts';
import { type TokenDecoder, tokenSpan } from './token-text.ts';

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
