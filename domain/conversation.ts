// The feedback between turns. `seed` feedback equals the original's to the byte: only the rendered user message,
// after a newline, so that it can be appended to the model's own ids.

import type { Reply } from './environment.ts';
import type { Message } from './query.ts';
import type { Verdict } from './verdict.ts';

export const FEEDBACK_RIGHT = 'Congratulations! You are correct!';
export const FEEDBACK_WRONG = "Unfortunately your answer is wrong. Let's try again.";

export function feedbackMessage(success: boolean): Message {
  return { role: 'user', content: success ? FEEDBACK_RIGHT : FEEDBACK_WRONG };
}

/** The messages after an answer: the environment's own, or the sentence on its verdict. */
export function feedbackOn(reply: Pick<Reply, 'messages'> & Pick<Verdict, 'verdict'>): readonly Message[] {
  return reply.messages ?? [feedbackMessage(reply.verdict === 'right')];
}

/** "\n" ++ chat_template([{role: user, content: F}], add_generation_prompt). */
export function seedFeedback(messages: readonly Message[], render: (messages: readonly Message[]) => string): string {
  return `\n${render(messages)}`;
}
