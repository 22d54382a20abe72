// The form that a reply is to have, by each mode of a run: in the system text, held to by the server, passed on, refused; and tools
// that are forced, and that no reply calls.

import { afterEach, describe, expect, test } from 'vitest';
import type { AgentRequest } from '../../domain/agent/conversation.ts';
import { ANSWER, type Api, APIS, ask, KEY, SCHEMA, TOOLS, USER } from './ask-endpoint.ts';
import { type OpenEndpoint, openEndpoint } from './open-endpoint.ts';
import { recorded, replyOf } from './recorded-agents.ts';

let endpoint: OpenEndpoint | undefined;
afterEach(() => endpoint?.close());

describe('a form of the reply', () => {
  const HEAD = '# Form of the reply\n\n';
  const FORM = `Reply with JSON alone, without other text or a code fence, that is valid by this JSON schema:\n${JSON.stringify(SCHEMA)}`;
  const schema = (api: Api) => {
    const format = { type: 'json_schema', name: 'sum', schema: SCHEMA };
    if (api === 'responses') return { text: { format } };
    return api === 'messages'
      ? { output_config: { format } }
      : { response_format: { type: 'json_schema', json_schema: format } };
  };
  const forced = { 'chat/completions': 'required', responses: 'required', messages: { type: 'any' } };

  test.each(APIS)(
    'stands at the end of the system text in the same words, with the call of a tool: %s',
    async (api) => {
      const system = {
        'chat/completions': { messages: [{ role: 'system', content: 'You add.' }, ...USER] },
        responses: { instructions: 'You add.' },
        messages: { system: 'You add.' },
      };
      const { request } = await ask(api, { ...system[api], ...schema(api) });
      expect(request!.messages).toEqual([
        { role: 'system', text: `You add.\n\n${HEAD}${FORM}` },
        { role: 'user', text: 'Add 3 and 4.' },
      ]);
      expect(request!.asks).toMatchObject({
        form: { kind: 'schema', value: SCHEMA, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      });
      const both = await ask(api, { ...schema(api), ...TOOLS[api], tool_choice: forced[api] });
      const words = `Unless you call a tool, r${FORM.slice(1)}\n\nCall one of the tools: a reply without the call is not accepted.`;
      expect(both.request!.messages[0]).toEqual({ role: 'system', text: HEAD + words });
    },
  );

  test('is the same text whichever order a client writes keywords in, and has properties in their order', async () => {
    const properties = { why: { type: 'string' }, sum: { type: 'integer' } };
    const written = [
      { properties, type: 'object' },
      { type: 'object', properties },
    ];
    const asked = await Promise.all(written.map((json) => ask('responses', { guided_json: json })));
    const [text, other] = asked.map(({ request }) => request!.messages[0]!.text);
    expect(text).toBe(other);
    expect(text).toContain('{"properties":{"why":{"type":"string"},"sum":{"type":"integer"}},"type":"object"}');
  });

  test.each(APIS)(
    'is held to by a server of tokens where no tool is offered, and is passed on to chat completions: %s',
    async (api) => {
      const alone = await ask(api, schema(api), 'constrain');
      expect(alone.request!.limits.form).toMatchObject({ kind: 'schema', value: SCHEMA });
      expect(alone.request!.messages).toEqual([{ role: 'user', text: 'Add 3 and 4.' }]);
      expect(alone.request!.flags).toEqual([
        expect.stringMatching(/^The server held the reply to .*: without the sets/),
      ]);
      const tools = { ...schema(api), ...TOOLS[api], tool_choice: forced[api] };
      const withTools = (await ask(api, tools, 'constrain')).request!;
      expect(withTools.limits.form).toBeUndefined();
      expect(withTools.messages[0]!.text).toContain('Unless you call a tool');
      const passed = (await ask(api, tools, 'pass')).request!;
      expect(passed.limits).toMatchObject({ toolChoice: 'required', form: { kind: 'schema', value: SCHEMA } });
      expect(passed.messages).toHaveLength(1);
      const regex = (await ask(api, { regex: '[0-9]+' }, 'pass')).request!;
      expect(regex.messages[0]!.text).toContain('this regular expression matches as a whole:\n[0-9]+');
    },
  );

  test.each(APIS)(
    'is refused by name, where the run refuses it, and a forced tool is left to the policy: %s',
    async (api) => {
      expect(await ask(api, schema(api), 'refuse')).toMatchObject({ status: 400 });
      const { request } = await ask(api, { ...TOOLS[api], tool_choice: forced[api] }, 'refuse');
      expect(request!.flags).toEqual([expect.stringMatching(/^tool_choice was left out/)]);
      expect([request!.asks, request!.messages.length]).toEqual([undefined, 1]);
    },
  );

  test('is of one reply: a response that goes on from another has its own, and no other', async () => {
    const asked: AgentRequest[] = [];
    endpoint = await openEndpoint({
      ...{
        key: KEY,
        model: 'tiny',
        recorded: [],
        maxCalls: 100,
        onReward: () => ({ took: {} }),
        onCut: () => undefined,
      },
      answer: ({ call }, request) => {
        asked.push(request);
        return Promise.resolve(replyOf(call.id, ANSWER!));
      },
    });
    const post = async (body: object) => {
      const headers = { 'x-api-key': KEY };
      const response = await fetch(`${endpoint!.url}/v1/responses`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return ((await response.json()) as { id: string }).id;
    };
    const developer = { role: 'developer', content: 'You add.' };
    const first = await post({ input: [developer, ...USER], ...schema('responses') });
    const second = await post({ input: 'Again.', previous_response_id: first, ...schema('responses') });
    await post({ input: 'Again.', previous_response_id: second });
    const bare = await post({ input: 'Add.', ...schema('responses') });
    await post({ input: 'Again.', previous_response_id: bare, regex: 'a' });
    // Words of the program's own stay, whatever heading they have.
    const own = { role: 'developer', content: `Be brief.\n\n${HEAD}Verse.` };
    const verse = await post({ input: [own, ...USER], ...schema('responses') });
    await post({ input: 'Again.', previous_response_id: await post({ input: 'Again.', previous_response_id: verse }) });
    const systems = asked.map(({ messages }) =>
      messages.filter(({ role }) => role === 'system').map(({ text }) => text),
    );
    expect(systems).toEqual([
      [`You add.\n\n${HEAD}${FORM}`],
      [`You add.\n\n${HEAD}${FORM}`],
      ['You add.'],
      [HEAD + FORM],
      [expect.stringMatching(/regular expression matches as a whole:\na$/)],
      [`${own.content}\n\n${HEAD}${FORM}`],
      [own.content],
      [own.content],
    ]);
  });
});

describe('a tool that is forced, and that no reply calls', () => {
  const forced = { ...TOOLS['chat/completions'], tool_choice: 'required' };
  async function open(reply: 'text' | 'call') {
    const cuts: string[] = [];
    const [calling] = recorded('openai-python');
    endpoint = await openEndpoint({
      ...{
        key: KEY,
        model: 'tiny',
        recorded: [],
        maxCalls: 100,
        onReward: () => ({ took: {} }),
        onCut: (cut) => cuts.push(cut),
      },
      answer: ({ call }) => Promise.resolve(replyOf(call.id, reply === 'call' ? calling! : ANSWER!)),
    });
    const post = async (body: object) => {
      const headers = { 'x-api-key': KEY };
      const response = await fetch(`${endpoint!.url}/v1/chat/completions`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return {
        status: response.status,
        said: (await response.json()) as { choices: [{ message: object }]; error: { code: string } },
      };
    };
    return { cuts, post };
  }

  test('is asked for five times, in one conversation as LangChain does or again and again, and then by a status that ends it', async () => {
    const { cuts, post } = await open('text');
    const messages: object[] = [...USER];
    const statuses: number[] = [];
    for (let i = 0; i < 6; i++) {
      const { status, said } = await post({ ...forced, messages });
      statuses.push(status);
      if (status === 200) messages.push(said.choices[0].message);
      else expect(said.error).toMatchObject({ code: 'max-calls', param: 'tool_choice' });
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 404]);
    const again = [];
    for (let i = 0; i < 6; i++)
      again.push((await post({ ...forced, messages: [{ role: 'user', content: 'Again.' }] })).status);
    expect(again).toEqual(statuses);
    expect(cuts).toEqual(['max-calls', 'max-calls']);
    // What forces nothing is asked as often as the run lets it.
    for (let i = 0; i < 7; i++) expect((await post({ ...TOOLS['chat/completions'], messages })).status).toBe(200);
  });

  test('is asked for without end while replies call it', async () => {
    const { post } = await open('call');
    for (let i = 0; i < 9; i++) expect((await post({ ...forced, messages: USER })).status).toBe(200);
  });
});
