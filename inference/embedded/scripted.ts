// A script in place of a model, to show tool calls where no model can make them: it reads the formula in the question, calls
// `calculate` in the format of Hermes, and answers with the result. It has no weights, and no choice: each logprob is 0.

import { join } from 'node:path';
import { drawsFromSets } from '../../domain/rollout/kept-sets.ts';
import { packageRoot } from '../../local/machine/package-root.ts';
import type { TokenBackend, TokenFacts } from '../backend.ts';
import { checkRequest } from '../request.ts';
import { folderIdentity } from '../tokenizer/model-files.ts';
import { loadTokenizer } from '../tokenizer/tokenizer.ts';

const FOLDER = join(packageRoot(), 'models', 'scripted');
const CONTEXT_LENGTH = 8_192;

export async function createScriptedBackend(): Promise<TokenBackend> {
  const tokenizer = await loadTokenizer(FOLDER);
  const facts: TokenFacts = {
    kind: 'tokens',
    name: 'scripted',
    fingerprint: null,
    vocabSize: tokenizer.size,
    givesKept: true,
    contextLength: CONTEXT_LENGTH,
    stopTokenIds: tokenizer.stopTokenIds,
    identity: await folderIdentity(FOLDER, 'scripted', { weights: null }),
  };
  return {
    facts,
    tokenizer,
    async generate(request, { signal }) {
      signal.throwIfAborted();
      checkRequest(request, facts);
      const context = await tokenizer.decode(request.contextIds, { skipSpecialTokens: false });
      const whole = await tokenizer.encodeRendered(`${scriptedReply(context)}<|im_end|>`);
      const outputIds = whole.slice(0, request.maxNewTokens);
      return {
        outputIds,
        logprobs: outputIds.map(() => 0),
        ...(drawsFromSets(request.sampling, facts.vocabSize) && { kept: outputIds.map((id) => [id]) }),
        finish: outputIds.length < whole.length ? 'length' : 'stop',
        versions: [{ version: 0, start: 0, end: outputIds.length }],
        server: null,
      };
    },
    close: async () => undefined,
  };
}

const FORMULA = /\d+(?: [-+*] \d+)+/;

/** The reply to a rendered conversation. It writes × at first, as people do, which the tool does not read. */
function scriptedReply(context: string): string {
  const last = context.slice(context.lastIndexOf('<|im_start|>user\n'), context.lastIndexOf('<|im_end|>'));
  const result = /<tool_response>\n(.*)\n<\/tool_response>/s.exec(last)?.[1];
  const formula = FORMULA.exec(context)?.[0];
  if (formula === undefined) return 'There is no formula in it, and I only read formulas. The answer is \\boxed{0}.';
  if (result === undefined) return calling(formula.replaceAll('*', '×'));
  return Number.isFinite(Number(result))
    ? `${formula} = ${result}. The answer is \\boxed{${result}}.`
    : calling(formula);
}

const calling = (expression: string): string =>
  `<tool_call>\n${JSON.stringify({ name: 'calculate', arguments: { expression } })}\n</tool_call>`;
