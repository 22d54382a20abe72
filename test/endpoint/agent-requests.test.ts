// What programs ask for beside messages, in the three APIs, by HTTP: the status, and what the record of the call says of it. One row
// is one request of each API that has it.

import { describe, expect, test } from 'vitest';
import { type Api, APIS, ask, SCHEMA, TOOLS } from './ask-endpoint.ts';

type Row = readonly [
  what: string,
  asked: Partial<Record<Api, object>>,
  outcome: { readonly flags?: readonly string[]; readonly refused?: string; readonly limits?: object },
];
const everywhere = (more: object): Record<Api, object> => ({
  'chat/completions': more,
  responses: more,
  messages: more,
});
const leftOut = (...names: string[]) => ({ flags: [`Left out: ${names.join(', ')}.`] });
const AS_TEXT = (field: string) => ({ flags: [`${field} stands in the system text.`] });
const SILENT = { flags: [] };

const ROWS: readonly Row[] = [
  ['nothing more', everywhere({}), SILENT],
  ['a seed', everywhere({ seed: 7 }), leftOut('seed')],
  ['a temperature', everywhere({ temperature: 0 }), leftOut('temperature')],
  ['top-p', everywhere({ top_p: 0.5 }), leftOut('top_p')],
  ['biases', everywhere({ logit_bias: { 7: -100 } }), leftOut('logit_bias')],
  ['effort', { 'chat/completions': { reasoning_effort: 'high' } }, leftOut('reasoning_effort')],
  ['effort', { responses: { reasoning: { effort: 'high' } } }, leftOut('reasoning.effort')],
  ['effort', { messages: { output_config: { effort: 'high' } } }, leftOut('output_config.effort')],
  ['thinking', { messages: { thinking: { type: 'adaptive' } } }, leftOut('thinking')],
  [
    'variables of the template',
    everywhere({ chat_template_kwargs: { enable_thinking: false } }),
    leftOut('chat_template_kwargs'),
  ],
  [
    'one call at a time',
    { 'chat/completions': { parallel_tool_calls: false }, responses: { parallel_tool_calls: false } },
    leftOut('parallel_tool_calls'),
  ],
  [
    'one call at a time',
    { messages: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } } },
    leftOut('tool_choice.disable_parallel_tool_use'),
  ],
  ['penalties', { 'chat/completions': { frequency_penalty: 1, presence_penalty: 0 } }, leftOut('frequency_penalty')],
  ['logprobs of others, and none of its own', { 'chat/completions': { top_logprobs: 3 } }, leftOut('top_logprobs')],
  ['verbosity', { 'chat/completions': { verbosity: 'low' } }, leftOut('verbosity')],
  ['a field that nobody knows', everywhere({ wibble: 1 }), leftOut('wibble')],
  [
    'arguments held to their schema',
    {
      'chat/completions': { tools: [{ type: 'function', function: { name: 'add', strict: true } }] },
      responses: { tools: [{ type: 'function', name: 'add', strict: true }] },
      messages: { tools: [{ name: 'add', strict: true }] },
    },
    leftOut('tools.strict'),
  ],
  [
    'a name of the speaker',
    { 'chat/completions': { messages: [{ role: 'user', content: 'Hello.', name: 'Ann' }] } },
    leftOut('messages.name'),
  ],
  ['names and cache', everywhere({ user: 'me', metadata: { a: 'b' }, service_tier: 'auto', model: 'small' }), SILENT],
  ['the usual values', everywhere({ parallel_tool_calls: true, frequency_penalty: 0, seed: null }), SILENT],
  [
    'its own limit',
    {
      'chat/completions': { max_completion_tokens: 5 },
      responses: { max_output_tokens: 5 },
      messages: { max_tokens: 5 },
    },
    { flags: [], limits: { maxTokens: 5 } },
  ],
  ['stop texts', { 'chat/completions': { stop: ['END'] } }, { flags: [], limits: { stop: ['END'] } }],
  ['stop texts', { messages: { stop_sequences: ['END'] } }, { flags: [], limits: { stop: ['END'], maxTokens: 100 } }],
  [
    'no call',
    { 'chat/completions': { tool_choice: 'none' }, responses: { tool_choice: 'none' } },
    { flags: [], limits: { toolChoice: 'none' } },
  ],
  ['two replies', { 'chat/completions': { n: 2 } }, { refused: 'n' }],
  ['logprobs', { 'chat/completions': { logprobs: true } }, { refused: 'logprobs' }],
  ['logprobs', { responses: { top_logprobs: 3 } }, { refused: 'top_logprobs' }],
  [
    'a picture',
    { 'chat/completions': { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] } },
    { refused: 'messages[0].content[0].type' },
  ],
  ['work in the background', { responses: { background: true } }, { refused: 'background' }],
  ['a conversation of the server', { responses: { conversation: 'conv_1' } }, { refused: 'conversation' }],
  ['tools of a server', { messages: { mcp_servers: [{ url: 'http://a' }] } }, { refused: 'mcp_servers' }],
  [
    'a format that nobody knows',
    { 'chat/completions': { response_format: { type: 'wibble' } } },
    { refused: 'response_format.type' },
  ],
  ['any object', { 'chat/completions': { response_format: { type: 'json_object' } } }, AS_TEXT('response_format')],
  ['any object', { responses: { text: { format: { type: 'json_object' } } } }, AS_TEXT('text.format')],
  [
    'text',
    { 'chat/completions': { response_format: { type: 'text' } }, responses: { text: { format: { type: 'text' } } } },
    SILENT,
  ],
  [
    'a schema',
    { 'chat/completions': { response_format: { type: 'json_schema', json_schema: { name: 'sum', schema: SCHEMA } } } },
    AS_TEXT('response_format'),
  ],
  [
    'a schema',
    { responses: { text: { format: { type: 'json_schema', name: 'sum', schema: SCHEMA } } } },
    AS_TEXT('text.format'),
  ],
  [
    'a schema',
    { messages: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } } },
    AS_TEXT('output_config.format'),
  ],
  ['a schema', { messages: { output_format: { type: 'json_schema', schema: SCHEMA } } }, AS_TEXT('output_format')],
  ['a schema of vLLM', everywhere({ structured_outputs: { json: SCHEMA } }), AS_TEXT('structured_outputs')],
  ['a schema of vLLM', everywhere({ guided_json: JSON.stringify(SCHEMA) }), AS_TEXT('guided_json')],
  ['a choice of vLLM', everywhere({ guided_choice: ['yes', 'no'] }), AS_TEXT('guided_choice')],
  ['a regular expression', everywhere({ regex: '[0-9]+' }), AS_TEXT('regex')],
  ['a grammar', everywhere({ ebnf: 'root ::= "a"' }), AS_TEXT('ebnf')],
  [
    'any tool',
    {
      'chat/completions': { ...TOOLS['chat/completions'], tool_choice: 'required' },
      responses: { ...TOOLS.responses, tool_choice: 'required' },
      messages: { ...TOOLS.messages, tool_choice: { type: 'any' } },
    },
    AS_TEXT('tool_choice'),
  ],
  [
    'one tool',
    {
      'chat/completions': {
        ...TOOLS['chat/completions'],
        tool_choice: { type: 'function', function: { name: 'add' } },
      },
      responses: { ...TOOLS.responses, tool_choice: { type: 'function', name: 'add' } },
      messages: { ...TOOLS.messages, tool_choice: { type: 'tool', name: 'add' } },
    },
    AS_TEXT('tool_choice'),
  ],
  [
    'a tool that is not there',
    { 'chat/completions': { tool_choice: 'required' }, responses: { tool_choice: { type: 'web_search' } } },
    { flags: ['tool_choice was left out: a reply that is held to a form is no sample of the policy.'] },
  ],
];

describe('a request for', () => {
  const all = ROWS.flatMap(([what, asked, outcome]) =>
    APIS.filter((api) => asked[api]).map(
      (api) => [`${what} by ${api}: ${JSON.stringify(asked[api]).slice(0, 60)}`, api, asked[api]!, outcome] as const,
    ),
  );

  test.each(all)('%s', async (_, api, more, { flags, refused, limits }) => {
    const { status, request, field } = await ask(api, more);
    expect([status, field]).toEqual(refused === undefined ? [200, undefined] : [400, refused]);
    if (flags) expect(request!.flags).toEqual(flags);
    if (limits) expect(request!.limits).toEqual(limits);
  });
});
