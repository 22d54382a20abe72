// The double of a task, as the tests of an agent's author use it.

import { describe, expect, test } from 'vitest';
import { fakeTask, type Task } from '../../workflows/agent-function.ts';

/** The function of an agent. */
async function twice({ row, ask, reward }: Task) {
  const question = String(row['question']);
  const first = await ask(question);
  const again = { role: 'user', content: 'Are you sure?' } as const;
  const second = await ask({ messages: [{ role: 'user', content: question }, first.message, again], tag: 'second' });
  reward(second, second.text === first.text ? 1 : 0);
  return { answer: second.text };
}

describe('a task that a test makes', () => {
  test('gives the replies in order, and keeps what was asked and which rewards were given', async () => {
    const task = fakeTask({ row: { question: '1 + 1?' }, replies: ['2', { text: '2', reasoning: 'Hm.' }] });
    expect(await twice(task)).toEqual({ answer: '2' });
    expect(task.asked).toEqual([
      { messages: [{ role: 'user', content: '1 + 1?' }] },
      {
        messages: [
          { role: 'user', content: '1 + 1?' },
          { role: 'assistant', content: '2' },
          { role: 'user', content: 'Are you sure?' },
        ],
        tag: 'second',
      },
    ]);
    expect(task.rewards).toEqual({ 'reply-2': 1 });
  });

  test('gives calls of tools ids, and rejects a call for which it has no reply', async () => {
    const { ask } = fakeTask({ replies: [{ calls: [{ name: 'add', arguments: { a: 1 } }] }] });
    const { calls, message } = await ask([{ role: 'user', content: 'Add.' }]);
    expect(calls).toEqual([{ id: 'call_1_1', name: 'add', arguments: { a: 1 } }]);
    expect(message.calls).toEqual(calls);
    await expect(ask('More?')).rejects.toThrow('fakeTask has 1 replies, and call 2 was made');
  });
});
