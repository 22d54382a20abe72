import { describe, expect, test } from 'vitest';
import { questionOf, type Query, TASK_INDEX, TASKS } from '../../domain/query/query.ts';

describe('a query', () => {
  test('a query’s question is its text, or what the user said last', () => {
    const query = (prompt: Query['prompt']) => ({ queryId: 'q', prompt, task: 'math', solutions: ['1'] }) as const;
    const said = (...roles: string[]) => ({
      kind: 'messages' as const,
      messages: roles.map((role, i) => ({ role, content: `${role} ${i}` })),
    });
    expect(questionOf(query({ kind: 'text', text: 'raw' }))).toBe('raw');
    expect(questionOf(query(said('system', 'user', 'assistant', 'user', 'assistant')))).toBe('user 3');
    expect(questionOf(query(said('system')))).toBe('system 0');
    expect(questionOf(query(said()))).toBe('');
  });

  test('tasks have the indices of the original’s list', () => {
    const original = ['math', 'code', 'rlhf', 'stem'];
    for (const task of TASKS) expect(TASK_INDEX[task]).toBe(original.indexOf(task));
  });
});
