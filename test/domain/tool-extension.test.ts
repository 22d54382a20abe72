// What templates of every format take of tools, and what is refused. Their extensions: test/environments/tools/extension.parts.test.ts.

import { describe, expect, test } from 'vitest';
import type { ChatMessage } from '../../domain/query/query.ts';
import { mustTakeTools, toolExtension } from '../../domain/context/tool-extension.ts';
import { ASKED } from '../support/tool-families.ts';

const TOOLS = ['add', 'say'].map((name) => ({
  name,
  description: 'Does it.',
  parameters: { type: 'object', properties: { a: { type: 'integer', description: 'One.' } } },
}));

describe('a template', () => {
  const end = { stop: '<end>' };
  const render = (messages: readonly ChatMessage[]) =>
    `add say ${messages.map(({ role, content }) => `<${role}>${content}<end>`).join('')}`;

  test('that leaves calls out and shows results extends by what follows an answer', () => {
    const added = [{ role: 'tool', content: '4' }];
    expect(toolExtension(render, ASKED, added, end)).toEqual({ ok: true, text: '<tool>4<end>' });
  });

  test('that swallows results is refused', () => {
    const swallows = (messages: readonly ChatMessage[]) => render(messages.filter(({ role }) => role !== 'tool'));
    expect(() => mustTakeTools({ name: 'x', render: swallows, end }, TOOLS, [ASKED])).toThrow(
      'The chat template of x cannot carry tools: it shows 0 of 1 results of tools',
    );
  });

  test('that shows the results of tools and not the tools is taken, and said to be so', () => {
    const untold = (messages: readonly ChatMessage[]) => render(messages).replace('add say ', '');
    expect(mustTakeTools({ name: 'x', render: untold, end }, TOOLS, [ASKED])).toBe(false);
  });
});
