// The feedback between turns. `seed` feedback equals the original's to the byte: only the rendered user message,
// after a newline, so that it can be appended to the model's own ids.

import type { Reply } from './environment.ts';
import type { Message } from '../run/query.ts';
import type { Verdict } from './verdict.ts';

export const FEEDBACK_RIGHT = 'Congratulations! You are correct!';
export const FEEDBACK_WRONG = "Unfortunately your answer is wrong. Let's try again.";

/** `said`: a person's message, behind the feedback. */
export function feedbackMessage(success: boolean, said?: string): Message {
  const feedback = success ? FEEDBACK_RIGHT : FEEDBACK_WRONG;
  return { role: 'user', content: said === undefined ? feedback : `${feedback}\n\n${said}` };
}

/** The messages after an answer: the environment's own, or the sentence on its verdict. `said`: a person's, behind them. */
export function feedbackOn(
  reply: Pick<Reply, 'messages'> & Pick<Verdict, 'verdict'>,
  said?: string,
): readonly Message[] {
  const { messages } = reply;
  if (!messages) return [feedbackMessage(reply.verdict === 'right', said)];
  if (said === undefined) return messages;
  // Templates want the roles to alternate: two user messages in a row are one.
  const last = messages.at(-1);
  if (last?.role !== 'user') return [...messages, { role: 'user', content: said }];
  return [...messages.slice(0, -1), { role: 'user', content: `${last.content}\n\n${said}` }];
}

/** "\n" ++ chat_template([{role: user, content: F}], add_generation_prompt). */
export function seedFeedback(messages: readonly Message[], render: (messages: readonly Message[]) => string): string {
  return `\n${render(messages)}`;
}
