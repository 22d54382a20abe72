// Checks that the model can answer a request: once, before anything is sent, for every backend.

import { ModelError } from '../domain/errors/errors.ts';
import { SETTINGS } from '../domain/rollout/settings.ts';
import type { Reason } from '../domain/errors/reasons.ts';
import type { GenerateRequest, TextRequest, TokenFacts } from './backend.ts';

type Refuse = (what: string, reason: Reason<'model'>, fix: string) => never;

export function checkRequest(request: GenerateRequest, facts: TokenFacts): void {
  const { contextIds, maxNewTokens } = request;
  const refuse = refusalOf(request);
  if (contextIds.length === 0) refuse('The context is empty', 'empty-context', 'Give at least one token.');
  const alien = contextIds.find((id) => !Number.isInteger(id) || id < 0 || id >= facts.vocabSize);
  if (alien !== undefined) {
    refuse(
      `Token id ${alien} is not in the vocabulary of ${facts.name}`,
      'token-out-of-vocabulary',
      `Ids go from 0 to ${facts.vocabSize - 1}.`,
    );
  }
  checkSampling(request, refuse);
  if (contextIds.length + maxNewTokens > facts.contextLength) {
    refuse(
      `${contextIds.length} tokens of context and ${maxNewTokens} new ones are more than ${facts.name} can hold`,
      'context-length',
      `Context and answer together may have ${facts.contextLength} tokens.`,
    );
  }
}

/** Only the server can check a conversation's length: its tokenizer is unknown here. */
export function checkTextRequest(request: TextRequest): void {
  const refuse = refusalOf(request);
  if (request.messages.length === 0) {
    refuse('A chat takes messages, and this request has none', 'no-messages', 'Give at least one message.');
  }
  checkSampling(request, refuse);
}

function refusalOf({ requestId }: GenerateRequest | TextRequest): Refuse {
  return (what, reason, fix) => {
    throw new ModelError(`${what} (request ${requestId})`, { reason, fix });
  };
}

function checkSampling({ maxNewTokens, sampling, seed }: GenerateRequest | TextRequest, refuse: Refuse): void {
  if (!Number.isSafeInteger(maxNewTokens) || maxNewTokens < 1) {
    refuse(`maxNewTokens is ${maxNewTokens}`, 'bad-budget', 'Give a whole number from 1 up.');
  }
  for (const [name, value] of Object.entries(sampling)) {
    const [test, wanted] = SETTINGS[name as keyof typeof sampling].of;
    if (!test(value)) refuse(`${name} is ${value}`, 'bad-sampling', `Give ${wanted}.`);
  }
  if (!Number.isSafeInteger(seed) || seed < 0)
    refuse(`The seed is ${seed}`, 'bad-seed', 'Give a whole number from 0 to 2^53 - 1.');
}
