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
  const base = {
    turn,
    versions: record.versions,
    logprobsOf: record.logprobsFound ?? record.logprobsOf ?? 'policy',
    trained: why === null,
    whyNotTrained: why,
    offset: contextLength,
  };
  if (outputIds.length === 0 && textLogprobs) {
    const output = { ids: [], texts: textLogprobs.map(({ token }) => token) };
    const values = textLogprobs.map(({ logprob }) => logprob);
    return { ...base, context: { ids: contextIds, texts: [] }, output, logprobs: values, noText: null };
  }
  if (typeof decoder === 'string') {
    return {
      ...base,
      context: { ids: contextIds, texts: [] },
      output: { ids: outputIds, texts: [] },
      logprobs,
      noText: decoder,
    };
  }
  const [context, output] = await Promise.all([
    tokenSpan(decoder, contextIds, contextText),
    tokenSpan(decoder, outputIds, outputText),
  ]);
  return {
    ...base,
    context: context ?? { ids: contextIds, texts: [] },
    output: output ?? { ids: outputIds, texts: [] },
    logprobs,
    noText: output ? null : 'this tokenizer does not give the recorded text for these ids',
  };
}
