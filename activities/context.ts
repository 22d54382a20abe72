// What a turn adds to the context before the model answers: the prompt, or the feedback to the turn before.

import { seedFeedback } from '../domain/conversation.ts';
import type { RolloutRecord, VerdictRecord } from '../domain/trajectory.ts';
import type { Tokenizer } from '../inference/backend.ts';

export interface NewContext {
  readonly text: string;
  readonly ids: readonly number[];
}

export async function newContext(
  { query }: RolloutRecord,
  verdict: VerdictRecord | null,
  tokenizer: Tokenizer,
): Promise<NewContext> {
  if (verdict) {
    const text = seedFeedback(verdict.verdict === 'right', (messages) => tokenizer.renderChat(messages));
    return { text, ids: await tokenizer.encode(text) };
  }
  const { prompt } = query;
  if (prompt.kind === 'text') return { text: prompt.text, ids: await tokenizer.encode(prompt.text) };
  const text = tokenizer.renderChat(prompt.messages);
  return { text, ids: await tokenizer.encodeRendered(text) };
}
