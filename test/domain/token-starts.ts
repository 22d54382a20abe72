// Where the tokens of an answer begin, and how many ids were decoded to tell.

import { tokenStarts } from '../../domain/rollout/credit.ts';
import { byteTokenizer } from '../support/scripted-model.ts';

const text = { contextText: '', outputText: '', finish: 'stop' } as const;

/** `asked`: ids that were decoded for it. */
export async function startsOf(
  ids: readonly number[],
  tokenizer: Pick<typeof byteTokenizer, 'decode'> = byteTokenizer,
) {
  let asked = 0;
  const decode = (some: readonly number[]) => {
    asked += some.length;
    return tokenizer.decode(some, { skipSpecialTokens: true });
  };
  const answer = await tokenizer.decode(ids, { skipSpecialTokens: true });
  return { answer, starts: await tokenStarts({ ...text, outputIds: ids, answer }, decode), asked };
}
