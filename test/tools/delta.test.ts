// The text behind an answer with calls, on real templates: two rounds of tools built by appending are what the template
// makes of the whole conversation, and where the template renders an answer in another way, the tail is the same.

import { describe, expect, test } from 'vitest';
import { isBad, obstacleToTools, resultsText, type ChatMessage, type ToolSchema } from '../../tools/formats/format.ts';
import { ASKED, openToolFamily, TOOL_FAMILIES, type Meant } from '../support/tool-families.ts';

const TOOLS: readonly ToolSchema[] = [
  {
    name: 'add',
    description: 'Adds.',
    parameters: { type: 'object', properties: { a: { type: 'integer', description: 'One.' } } },
  },
  {
    name: 'say',
    description: 'Says.',
    parameters: { type: 'object', properties: { b: { type: 'string', description: 'Two.' } } },
  },
];
const ROUNDS: readonly (readonly Meant[])[] = [
  [{ name: 'add', arguments: { a: 1 } }],
  [
    { name: 'say', arguments: { b: 'a "b"\n' } },
    { name: 'add', arguments: { a: 2 } },
  ],
];
const OUTPUTS = ['4', 'five\n"6" <|im_end|> </tool_response>'];
/**
 * Templates that render what went before in another way once more follows, here for one reason each. The context keeps
 * what stood there; the text behind the answer is the same.
 */
const RENDERED_OTHERWISE: Readonly<Record<string, string>> = {
  'hermes-3': 'a line break before <|im_end|> of results that are not the last',
  'deepseek-v3': 'the prompt opens <think>, which is left out later',
  'glm-4.7': 'the prompt opens <think>, which is left out later',
};

describe.each(Object.keys(TOOL_FAMILIES))('%s', (name) => {
  test('keeps every byte before the results, which are what its template shows', async () => {
    const family = await openToolFamily(name);
    const { format, stop } = family;
    const render = (messages: readonly ChatMessage[]) => family.render(messages, TOOLS);
    const messages: ChatMessage[] = [...ASKED];
    let context = render(messages);
    for (const round of ROUNDS) {
      const meant = round.slice(0, family.mostCalls);
      const answer = family.written(meant, TOOLS);
      const { calls } = format.parse(answer + stop, TOOLS);
      expect(calls.map((call) => (isBad(call) ? call.error : call.name))).toEqual(meant.map((call) => call.name));
      const results = calls.map((call, i) => ({ call, output: OUTPUTS[i]! }));
      const appended = resultsText({ render, format }, messages, results, stop);
      expect(appended).toMatchObject({ ok: true });
      const text = appended.ok ? appended.text : '';
      context += answer + stop + text;
      const said = family.message(meant);
      const ids = calls.map((call) => (isBad(call) ? null : call.id));
      const withIds = said.tool_calls!.map((call, i) => ({ ...call, ...(ids[i] ? { id: ids[i] } : {}) }));
      messages.push(
        { ...said, tool_calls: withIds },
        ...results.map(({ call, output }) => format.resultMessage(call, output)),
      );
      const whole = render(messages);
      expect(whole.endsWith(text)).toBe(true);
      const last = round === ROUNDS.at(-1);
      if (!(name in RENDERED_OTHERWISE)) expect(context).toBe(whole);
      else if (last) expect(context).not.toBe(whole);
    }
  });

  test('takes tools, with and without a system message', async () => {
    const family = await openToolFamily(name);
    const render = (messages: readonly ChatMessage[]) => family.render(messages, TOOLS);
    expect(obstacleToTools({ render, format: family.format }, ASKED)).toBeNull();
    const system = { role: 'system', content: 'Be brief.' };
    expect(obstacleToTools({ render, format: family.format }, [system, ...ASKED])).toBeNull();
  });
});

describe('a template that takes no tools', () => {
  const hermes = async () => (await openToolFamily('qwen2.5')).format;
  const chat = (messages: readonly ChatMessage[]) =>
    messages.map(({ role, content }) => `<|im_start|>${role}\n${content}<|im_end|>\n`).join('');

  test('is refused with what it does: it leaves calls out', async () => {
    expect(obstacleToTools({ render: chat, format: await hermes() }, ASKED)).toBe('it leaves calls out');
  });

  test('is refused with what it does: it swallows the results', async () => {
    const render = (messages: readonly ChatMessage[]) =>
      chat(
        messages
          .filter(({ role }) => role !== 'tool')
          .map((one) => ({ ...one, content: one.content + JSON.stringify(one.tool_calls) })),
      );
    expect(obstacleToTools({ render, format: await hermes() }, ASKED)).toBe('it shows 0 of 1 results of tools');
  });

  test('is refused with what it does: it throws', async () => {
    const render = (): string => {
      throw new Error('No tools here');
    };
    expect(obstacleToTools({ render, format: await hermes() }, ASKED)).toBe(
      'it refuses such a conversation (No tools here)',
    );
  });
});
