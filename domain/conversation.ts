// The feedback between turns. `seed` feedback equals the original's to the byte: only the rendered user message,
// after a newline, so that it can be appended to the model's own ids.

import type { Message } from './query.ts';

export const FEEDBACK_RIGHT = 'Congratulations! You are correct!';
export const FEEDBACK_WRONG = "Unfortunately your answer is wrong. Let's try again.";

/** `said`: a person's message, behind the feedback. */
export function feedbackMessage(success: boolean, said?: string): Message {
  const feedback = success ? FEEDBACK_RIGHT : FEEDBACK_WRONG;
  return { role: 'user', content: said === undefined ? feedback : `${feedback}\n\n${said}` };
}

/** "\n" ++ chat_template([{role: user, content: F}], add_generation_prompt). */
export function seedFeedback(
  success: boolean,
  render: (messages: readonly Message[]) => string,
  said?: string,
): string {
  return `\n${render([feedbackMessage(success, said)])}`;
}
