// The text behind an answer with calls, on real templates: two rounds of tools built by appending are what the template
// makes of the whole conversation, and where the template renders an answer in another way, the tail is the same.

import { describe, expect, test } from 'vitest';
import type { ChatMessage } from '../../../domain/query/query.ts';
import { mustTakeTools, toolExtension } from '../../../domain/context/tool-extension.ts';
import { isBad, type ToolSchema } from '../../../environments/tools/formats/format.ts';
import { ASKED, openToolFamily, TOOL_FAMILIES, type Meant } from '../../support/tool-families.ts';

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
      const added = results.map(({ call, output }) => format.resultMessage(call, output));
      const appended = toolExtension(render, messages, added, { ...format, stop });
      expect(appended).toMatchObject({ ok: true });
      const text = appended.ok ? appended.text : '';
      context += answer + stop + text;
      const said = family.message(meant);
      const ids = calls.map((call) => (isBad(call) ? null : call.id));
      const withIds = said.tool_calls!.map((call, i) => ({ ...call, ...(ids[i] ? { id: ids[i] } : {}) }));
      messages.push({ ...said, tool_calls: withIds }, ...added);
      const whole = render(messages);
      expect(whole.endsWith(text)).toBe(true);
      const last = round === ROUNDS.at(-1);
      if (!(name in RENDERED_OTHERWISE)) expect(context).toBe(whole);
      else if (last) expect(context).not.toBe(whole);
    }
  });

  // DeepSeek's templates leave it to the messages to show tools, which is told.
  test('takes tools, with and without a system message', async () => {
    const family = await openToolFamily(name);
    const render = (messages: readonly ChatMessage[]) => family.render(messages, TOOLS);
    const openings = [ASKED, [{ role: 'system', content: 'Be brief.' }, ...ASKED]];
    const end = { ...family.format, stop: family.stop };
    expect(mustTakeTools({ name, render, end }, TOOLS, openings)).toBe(!name.startsWith('deepseek'));
  });
});

describe('an answer of Llama that ends with <|eom_id|>', () => {
  test('is followed by the results, without the <|eot_id|> that the template ends calls with', async () => {
    const family = await openToolFamily('llama-3.1');
    const render = (messages: readonly ChatMessage[]) => family.render(messages, TOOLS);
    const added = [{ role: 'tool', content: '4' }];
    const after = (stop: string) => toolExtension(render, ASKED, added, { ...family.format, stop });
    expect(after('<|eom_id|>')).toEqual(after('<|eot_id|>'));
    expect(after('<|eom_id|>')).toMatchObject({
      ok: true,
      text: expect.stringMatching(/^<\|start_header_id\|>ipython/) as string,
    });
  });
});
