// Fields that change nothing here are named in the record of their call, whatever their API; all others are not.

import { describe, expect, test } from 'vitest';
import { chatDialect } from '../../endpoint/dialects/chat.ts';
import { messagesDialect } from '../../endpoint/dialects/messages.ts';
import { responsesDialect } from '../../endpoint/dialects/responses.ts';
import { readAs } from './recorded-agents.ts';

const MESSAGES = [{ role: 'user', content: 'Hello.' }];
const TOOL = { name: 'add', description: 'Adds.' };

const APIS = [
  { dialect: chatDialect, base: { messages: MESSAGES }, tool: { type: 'function', function: TOOL } },
  { dialect: responsesDialect, base: { input: 'Hello.' }, tool: { type: 'function', ...TOOL } },
  { dialect: messagesDialect, base: { messages: MESSAGES, max_tokens: 9 }, tool: TOOL },
];

describe.each(APIS.map((api) => ({ ...api, path: api.dialect.path })))('$path', ({ path, dialect, base, tool }) => {
  const flagsOf = (more: object) => readAs(dialect, { ...base, ...more }, () => undefined).flags;

  test('names each field that it leaves out, known or not, in one sentence', () => {
    expect(flagsOf({ temperature: 0, seed: 7, logit_bias: { 3: 1 }, wibble: true })).toEqual([
      'Left out: temperature, seed, logit_bias, wibble.',
    ]);
    const many = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`${i}`.padStart(60, 'x'), 1]));
    expect(flagsOf(many)).toEqual([expect.stringMatching(/^Left out: x{39}….* and 5 more\.$/)]);
  });

  test('is silent of what is not about the reply, and of a value that is the same as none', () => {
    const asked = { model: 'm', metadata: { a: 'b' }, user: 'me', store: true, service_tier: 'auto', stream: true };
    const usual = { parallel_tool_calls: true, frequency_penalty: 0, seed: null, logit_bias: {}, top_k: null };
    expect(flagsOf({ ...asked, ...usual, tools: [tool] })).toEqual([]);
  });

  const own: [string, object][] = [
    ['/chat/completions', { parallel_tool_calls: false }],
    ['/chat/completions', { reasoning_effort: 'low' }],
    ['/chat/completions', { chat_template_kwargs: { enable_thinking: false } }],
    ['/chat/completions', { top_logprobs: 2 }],
    ['/chat/completions', { frequency_penalty: 1 }],
    ['/responses', { reasoning: { effort: 'low' } }],
    ['/responses', { text: { verbosity: 'low' } }],
    ['/responses', { truncation: 'auto' }],
    ['/messages', { thinking: { type: 'enabled', budget_tokens: 1024 } }],
    ['/messages', { output_config: { effort: 'low' } }],
    ['/messages', { context_management: { edits: [{ type: 'clear' }] } }],
    ['/messages', { tool_choice: { type: 'auto', disable_parallel_tool_use: true } }],
  ];
  test.each(own.filter(([of]) => of === path).map(([, more]) => [more]))('names %j', (more) => {
    const [[field, value]] = Object.entries(more) as [[string, object]];
    const inner = Object.keys(value).at(-1)!;
    const named = /^(?:reasoning|text|output_config|tool_choice)$/.test(field) ? `${field}.${inner}` : field;
    expect(flagsOf(more)).toEqual([`Left out: ${named}.`]);
  });
});
