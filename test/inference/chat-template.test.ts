// Chat templates are rendered as transformers.js renders them, whose Jinja is used without the rest of it; and which of
// several templates counts.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PreTrainedTokenizer } from '@huggingface/transformers';
import { describe, expect, test } from 'vitest';
import type { ChatMessage } from '../../domain/query/query.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import { chatTemplateOf } from '../../inference/tokenizer/chat-template.ts';
import { fixture } from '../support/tiny.ts';

const FOLDER = join(import.meta.dirname, '../fixtures/templates');
const NAMES = readdirSync(FOLDER).filter((file) => file.endsWith('.jinja'));
const TOKENS = { bos_token: '<s>', eos_token: '</s>', unk_token: '<unk>', pad_token: null, model_max_length: 8 };
const NO_VOCABULARY = {
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: null,
  post_processor: null,
  decoder: null,
  model: { type: 'BPE', vocab: {}, merges: [] },
};

/** By fixtures/templates/renderings.py. */
const RENDERINGS = fixture('template-renderings.json') as {
  readonly template: string;
  readonly variables: JsonObject;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly object[] | null;
  readonly text: string;
}[];

const USER: ChatMessage = { role: 'user', content: 'What is 2 + 2?\n<|x|> {{ 1 }} é' };
const ASSISTANT: ChatMessage = { role: 'assistant', content: '<think>\nso\n</think>\n\nFour.' };
const CALL: ChatMessage = {
  role: 'assistant',
  content: '',
  tool_calls: [{ id: 'id0000001', type: 'function', function: { name: 'add', arguments: { a: 1 } } }],
};
const CONVERSATIONS: readonly (readonly ChatMessage[])[] = [
  [USER],
  [{ role: 'system', content: 'Answer briefly.' }, USER],
  [USER, ASSISTANT, USER],
  [USER, ASSISTANT, USER, ASSISTANT, { role: 'user', content: '' }],
  [USER, CALL, { role: 'tool', tool_call_id: 'id0000001', name: 'add', content: '2' }],
  [ASSISTANT, USER],
];
const TOOLS = [
  {
    type: 'function',
    function: {
      name: 'add',
      description: 'Adds.',
      parameters: { type: 'object', properties: { a: { type: 'integer', description: 'It.' } } },
    },
  },
];

const outcome = (render: () => string): string => {
  try {
    return render();
  } catch (error) {
    return `refused: ${(error as Error).message}`;
  }
};

describe('chat templates', () => {
  test.each(NAMES)('are rendered, and refuse, as transformers.js does: %s', (name) => {
    const template = readFileSync(join(FOLDER, name), 'utf8');
    const peer = new PreTrainedTokenizer(NO_VOCABULARY, TOKENS);
    const ours = chatTemplateOf(TOKENS, template);
    let rendered = 0;
    for (const messages of CONVERSATIONS) {
      for (const tools of [undefined, TOOLS]) {
        const theirs = outcome(() =>
          peer.apply_chat_template(messages.map((one) => ({ ...one })) as never, {
            tokenize: false,
            add_generation_prompt: true,
            chat_template: template,
            ...(tools && { tools: tools as never }),
          }),
        );
        expect(outcome(() => ours.render(messages, tools))).toBe(theirs);
        if (!theirs.startsWith('refused: ')) rendered++;
      }
    }
    expect(rendered).toBeGreaterThan(0);
  });

  test('with variables are rendered as Python’s apply_chat_template renders them', () => {
    expect(RENDERINGS.length).toBeGreaterThan(70);
    for (const { template, variables, messages, tools, text } of RENDERINGS) {
      const source = readFileSync(join(FOLDER, `${template}.jinja`), 'utf8');
      const ours = chatTemplateOf({ bos_token: '<s>', eos_token: '</s>' }, source);
      const rendered = ours.render(messages, tools ?? undefined, variables);
      expect({ template, variables, text: rendered.replaceAll(/\d{4}-\d\d-\d\d/g, 'DATE') }).toEqual({
        template,
        variables,
        text,
      });
    }
  });

  test('take no variable in place of the conversation', () => {
    const ours = chatTemplateOf(TOKENS, '{{ messages[0].content }}{{ bos_token }}{{ add_generation_prompt }}');
    const variables = { messages: [], bos_token: '<other>', add_generation_prompt: false };
    expect(ours.render([{ role: 'user', content: 'Q' }], undefined, variables)).toBe('Q<other>true');
  });

  test('of several take the one for tools with tools, and the default else', () => {
    const chat_template = [
      { name: 'default', template: 'plain{{ bos_token }}' },
      { name: 'tool_use', template: 'tools' },
    ];
    const several = chatTemplateOf({ ...TOKENS, chat_template }, null);
    expect(several.render([USER])).toBe('plain<s>');
    expect(several.render([USER], TOOLS)).toBe('tools');
    expect(several.text()).toBe('plain{{ bos_token }}');
    expect(chatTemplateOf({ chat_template: chat_template.slice(0, 1) }, null).render([USER], TOOLS)).toBe('plain');
    expect(() => chatTemplateOf({ chat_template: chat_template.slice(1) }, null).text()).toThrow('(tool_use)');
    expect(() => chatTemplateOf({ chat_template: [{ name: 'default' }] }, null)).toThrow('both texts');
  });
});
