import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { firstWords } from '../../domain/text/foreign-text.ts';
import { questionOf, type Query, TASK_INDEX, TASKS } from '../../domain/run/query.ts';
import { ANY_CHAR } from './some.ts';

describe('a query', () => {
  test('first words are one line that cannot steer a terminal or turn its direction', () => {
    const steering = fc.constantFrom(
      '\u001b',
      '\u009b',
      '\n',
      '\r',
      '\u202e',
      '\u2066',
      '\u200f',
      '\u061c',
      '\ufeff',
      '\u2028',
      'a',
      '😀',
    );
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: ANY_CHAR }), fc.string({ unit: steering })),
        fc.integer({ min: 1, max: 100 }),
        (text, max) => {
          const words = firstWords(text, max);
          expect(words).not.toMatch(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u);
          expect([...words].length).toBeLessThanOrEqual(max);
          expect(words).toBe(words.trim());
        },
      ),
      { numRuns: 500 },
    );
  });

  test('short text stands whole, with its spaces made single; long text says that it goes on', () => {
    expect(firstWords('  What is\n\n 2 + 2?\t')).toBe('What is 2 + 2?');
    expect(firstWords('😀'.repeat(90))).toBe(`${'😀'.repeat(79)}…`);
    expect(firstWords('x'.repeat(80))).toBe('x'.repeat(80));
    const far = ' '.repeat(1_000_000);
    expect(firstWords(`${far}a${far}b`)).toBe('a b');
    expect(firstWords(`${far}${'😀'.repeat(3000)}`, 60)).toBe(`${'😀'.repeat(59)}…`);
  });

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
