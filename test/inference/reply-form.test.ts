// A form that an answer is held to, in the words of each kind of server; a request without one says nothing of it.

import { afterEach, describe, expect, test } from 'vitest';
import { type ReplyForm, replyForm } from '../../domain/agent/reply-form.ts';
import { ask, closeAll, serverAndBackend } from '../support/fleet-rig.ts';
import { oddChat } from '../support/odd-chat.ts';

afterEach(closeAll);

const SCHEMA = { type: 'object', properties: { sum: { type: 'integer' } } };
const TAG = { type: 'structural_tag', format: { type: 'json_schema' } };
const FORMS: readonly (readonly [ReplyForm, sglang: object, vllm: object])[] = [
  [replyForm('schema', SCHEMA), { json_schema: JSON.stringify(SCHEMA) }, { json: SCHEMA }],
  [replyForm('json', {}), { json_schema: '{"type":"object"}' }, { json_object: true }],
  [replyForm('regex', '[0-9]+'), { regex: '[0-9]+' }, { regex: '[0-9]+' }],
  [replyForm('choice', ['a.', 'b']), { regex: 'a\\.|b' }, { choice: ['a.', 'b'] }],
  [replyForm('grammar', 'root ::= "a"'), { ebnf: 'root ::= "a"' }, { grammar: 'root ::= "a"' }],
  [replyForm('tag', TAG), { structural_tag: JSON.stringify(TAG) }, { structural_tag: JSON.stringify(TAG) }],
];
const NAMES = ['json_schema', 'regex', 'ebnf', 'structural_tag', 'structured_outputs'];

describe.each(['sglang', 'vllm'] as const)('%s', (kind) => {
  test('is told the form in its own words, and nothing where there is none', async () => {
    const { server, backend } = await serverAndBackend({ kind }, { recheckEvery: 0 });
    const said = () => {
      const { body } = server.seen.findLast(({ path }) => path.endsWith('/generate'))!;
      return body['sampling_params'] as Record<string, unknown>;
    };
    await ask(backend, 'run/q/0', {});
    expect(Object.keys(said()).filter((name) => NAMES.includes(name))).toEqual([]);
    for (const [form, sglang, vllm] of FORMS) {
      await ask(backend, 'run/q/0', { form });
      const own = Object.entries(said()).filter(([name]) => NAMES.includes(name));
      expect(Object.fromEntries(own)).toEqual(kind === 'sglang' ? sglang : { structured_outputs: vllm });
    }
  });
});

describe('chat completions', () => {
  test('are given the format as its request had it, and the tool that is forced', async () => {
    const chat = await oddChat();
    try {
      const tools = [{ name: 'add', description: 'Adds.', parameters: {} }];
      await chat.ask({ form: replyForm('schema', SCHEMA, { name: 'sum', strict: true }) });
      await chat.ask({ form: replyForm('json', {}), tools, toolChoice: 'required' });
      await chat.ask({ tools, toolChoice: { name: 'add' } });
      await chat.ask({ toolChoice: 'required' });
      const sent = chat.sent().map(({ response_format, tool_choice }) => [response_format, tool_choice]);
      expect(sent).toEqual([
        [{ type: 'json_schema', json_schema: { name: 'sum', strict: true, schema: SCHEMA } }, undefined],
        [{ type: 'json_object' }, 'required'],
        [undefined, { type: 'function', function: { name: 'add' } }],
        [undefined, undefined],
      ]);
    } finally {
      await chat.close();
    }
  });
});
