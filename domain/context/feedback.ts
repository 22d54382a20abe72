// The feedback between turns. `seed` feedback equals the original's to the byte: only the rendered user message,
// after a newline, so that it can be appended to the model's own ids.

import type { EnvironmentReply } from '../rollout/environment.ts';
import type { Message } from '../query/query.ts';
import type { Verdict } from '../rollout/verdict.ts';

export const FEEDBACK_RIGHT = 'Congratulations! You are correct!';
export const FEEDBACK_WRONG = "Unfortunately your answer is wrong. Let's try again.";

/** `said`: a person's message, behind the feedback. */
export function feedbackMessage(success: boolean, said?: string): Message {
  const feedback = success ? FEEDBACK_RIGHT : FEEDBACK_WRONG;
  return { role: 'user', content: said === undefined ? feedback : `${feedback}\n\n${said}` };
}

/** The messages after an answer: the environment's own, or the sentence on its verdict. `said`: a person's, behind it. */
export function feedbackOn(
  { messages, verdict }: Pick<EnvironmentReply, 'messages'> & Pick<Verdict, 'verdict'>,
  said?: string,
): readonly Message[] {
  return messages ?? [feedbackMessage(verdict === 'right', said)];
}

/** "\n" ++ chat_template([{role: user, content: F}], add_generation_prompt). */
export function seedFeedback(messages: readonly Message[], render: (messages: readonly Message[]) => string): string {
  return `\n${render(messages)}`;
}
