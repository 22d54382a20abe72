// The text behind a reply that called tools, on the real templates of every format: the same as the formats' own, which
// are measured against whole renderings; and what is refused.

import { describe, expect, test } from 'vitest';
import type { ChatMessage, Message } from '../../domain/query.ts';
import { mustTakeTools, templateTools, toolExtension } from '../../domain/tool-extension.ts';
import { resultsText, type Call } from '../../tools/formats/format.ts';
import { ASKED, openToolFamily, TOOL_FAMILIES } from '../support/tool-families.ts';

const TOOLS = ['add', 'say'].map((name) => ({
  name,
  description: 'Does it.',
  parameters: { type: 'object', properties: { a: { type: 'integer', description: 'One.' } } },
}));
const OUTPUTS = [
  '4',
  'five\n"6" <|im_end|> </tool_response>',
  'No further call is run before your answer: give it now.',
];

describe.each(Object.keys(TOOL_FAMILIES))('the template of %s', (name) => {
  test('extends a conversation by one or several results as its format does', async () => {
    const { tokenizer, format, stop, mostCalls } = await openToolFamily(name);
    const tools = templateTools(TOOLS);
    const render = (messages: readonly ChatMessage[]) => tokenizer.renderChat(messages, tools);
    const end = { stop, stops: format.stops, ...(format.opensResults && { opensResults: format.opensResults }) };
    // DeepSeek's templates leave the description of tools to the messages.
    expect(mustTakeTools({ name, render, end }, TOOLS, [ASKED])).toBe(!name.startsWith('deepseek'));
    for (const count of [1, 2, 3].filter((one) => one <= mostCalls)) {
      const results = OUTPUTS.slice(0, count).map((output, i) => {
        const call: Call = { name: TOOLS[i % 2]!.name, arguments: { a: i }, id: null, raw: '' };
        return { call, output };
      });
      const added: Message[] = results.map(({ call, output }) => format.resultMessage(call, output));
      const right = resultsText({ render, format }, ASKED, results, stop);
      expect(right.ok).toBe(true);
      expect(toolExtension(render, ASKED, added, end)).toEqual(right);
    }
  });
});

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
