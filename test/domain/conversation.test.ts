import { describe, expect, test } from 'vitest';
import { feedbackMessage, seedFeedback } from '../../domain/context/feedback.ts';
import type { Message } from '../../domain/query/query.ts';

describe('a conversation', () => {
  test('feedback is the original’s to the byte', () => {
    expect(feedbackMessage(true)).toEqual({ role: 'user', content: 'Congratulations! You are correct!' });
    expect(feedbackMessage(false)).toEqual({
      role: 'user',
      content: "Unfortunately your answer is wrong. Let's try again.",
    });
    const bytes = Buffer.from(feedbackMessage(false).content);
    expect(bytes).toHaveLength(52);
    expect(bytes.every((byte) => byte >= 0x20 && byte < 0x7f)).toBe(true);
  });

  test('seed feedback is a newline and the rendered message alone', () => {
    const rendered: (readonly Message[])[] = [];
    const text = seedFeedback([feedbackMessage(false)], (messages) => {
      rendered.push(messages);
      return '<user>…<assistant>';
    });
    expect(text).toBe('\n<user>…<assistant>');
    expect(rendered).toEqual([[feedbackMessage(false)]]);
  });
});
