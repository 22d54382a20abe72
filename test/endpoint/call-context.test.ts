// The contexts of an agent's calls on real chat templates: the sampled ids stay, and only what is new behind them is rendered.

import { describe, expect, test } from 'vitest';
import { callContext, type PlayedCall } from '../../domain/context/call-context.ts';
import type { AgentMessage, AskedRequest } from '../../domain/agent/conversation.ts';
import { openFamily, REWRITING } from '../support/template-families.ts';
import { openToolFamily, TOOL_FAMILIES } from '../support/tool-families.ts';
import { idsThrough, tokenizer as toy } from './recorded-agents.ts';

const TOOLS = [
  {
    name: 'add',
    description: 'Adds.',
    parameters: { type: 'object', properties: { a: { type: 'integer', description: 'One.' } } },
  },
];
const asked = (...messages: AgentMessage[]): AskedRequest => ({ messages, tools: TOOLS, limits: {} });
const user = (text: string): AgentMessage => ({ role: 'user', text });

describe.each(Object.keys(TOOL_FAMILIES))('%s', (name) => {
  test('keeps the sampled ids behind results of tools, and behind an answer that a user goes on from', async () => {
    const { tokenizer, format, stop, written } = await openToolFamily(name);
    const played: PlayedCall[] = [];
    const play = async (request: AskedRequest, reply: AgentMessage, text: string) => {
      const context = await callContext(request, played, tokenizer, format);
      const outputIds = await tokenizer.encodeRendered(text + stop);
      const { parent, ids: contextIds } = context;
      const id = String(played.length);
      played.push({ id, request, reply, parent, contextIds, outputIds, finish: 'stop' });
      return context;
    };
    const call = { id: 'id0000000', name: 'add', arguments: { a: 31337 } };
    const called: AgentMessage = { role: 'assistant', text: '', calls: [call] };
    const result: AgentMessage = { role: 'tool', text: 'The sum is 4711.', callId: call.id };
    const answer: AgentMessage = { role: 'assistant', text: 'It is 4711, surely.' };
    const all = [user('Add it.'), called, result, answer, user('And once more?')];
    const first = await play(asked(...all.slice(0, 1)), called, written([call], TOOLS));
    const second = await play(asked(...all.slice(0, 3)), answer, answer.text);
    const third = await play(asked(...all), answer, answer.text);
    expect([first, second, third].map(({ parent, branch }) => [parent, branch])).toEqual([
      [null, null],
      ['0', null],
      ['1', null],
    ]);
    expect(second.text).toContain('The sum is 4711.');
    expect(second.text).not.toContain('31337');
    expect(third.text).toContain('And once more?');
    expect(third.text).not.toContain('surely');
    // One stop token ends each reply, and none is doubled.
    const byId = new Map(played.map((one) => [one.id, one]));
    const whole = await tokenizer.decode(idsThrough(played[1]!, byId), { skipSpecialTokens: false });
    expect(whole + third.text).not.toContain(stop + stop);
    expect(third.text.startsWith(stop)).toBe(false);
  });
});

describe('a call that extends no other', () => {
  const base: PlayedCall = {
    id: 'a',
    request: asked(user('Hello.')),
    reply: { role: 'assistant', text: 'Hi.' },
    parent: null,
    contextIds: [258],
    outputIds: [],
    finish: 'stop',
  };

  test('is a root where the template cannot show the new messages behind a reply', async () => {
    const refusing = {
      ...toy,
      renderChat(messages: Parameters<typeof toy.renderChat>[0]) {
        if (messages.some(({ content }) => content.startsWith('Answer'))) throw new Error('no marker');
        return toy.renderChat(messages);
      },
    };
    const request = asked(user('Hello.'), base.reply, user('More.'));
    const context = await callContext(request, [base], refusing, { stops: [] });
    expect(context).toMatchObject({ parent: null, branch: 'not-extensible', differsAt: 2 });
    expect(context.text).toBe(
      toy.renderChat([
        { role: 'user', content: 'Hello.' },
        { role: 'assistant', content: 'Hi.' },
        { role: 'user', content: 'More.' },
      ]),
    );
  });

  test('hangs in the tree where its rendering begins with the ids of a call', async () => {
    const contextIds = await toy.encode(toy.renderChat([{ role: 'user', content: 'Hello.' }]));
    const recorded = {
      ...base,
      contextIds,
      outputIds: [...Buffer.from('Hi.'), 256],
      reply: { ...base.reply, text: ' Hi.' },
    };
    const request = { ...asked(user('Hello.'), base.reply, user('More.')), tools: [] };
    const context = await callContext(request, [{ ...recorded, request: { ...base.request, tools: [] } }], toy, {});
    expect(context).toMatchObject({ parent: 'a', branch: null });
    expect(context.text).toBe('\n<start>user\nMore.<end>\n<start>assistant\n');
  });

  test('shows a system message in mid-conversation as a user’s where the template takes none, and says so', async () => {
    const strict = {
      ...toy,
      renderChat(messages: Parameters<typeof toy.renderChat>[0]) {
        if (messages.slice(1).some(({ role }) => role === 'system')) throw new Error('system messages come first');
        return toy.renderChat(messages);
      },
    };
    const request = asked({ role: 'system', text: 'Be brief.' }, user('Hello.'), {
      role: 'system',
      text: 'It is late.',
    });
    const context = await callContext(request, [], strict, {});
    expect(context.systemAsUser).toBe(true);
    expect(context.text).toContain(
      '<start>system\nBe brief.<end>\n<start>user\nHello.<end>\n<start>user\nIt is late.<end>',
    );
  });

  test('goes on from the text of a last message that is the assistant’s, in a root and behind a reply', async () => {
    const tokenizer = await openFamily('qwen3', REWRITING['qwen3']!.family);
    const open: AgentMessage = { role: 'assistant', text: 'It is: Answer ' };
    const plain = (...messages: AgentMessage[]) => ({ ...asked(...messages), tools: [] });
    const root = await callContext(plain(user('Add it.'), open), [], tokenizer, {});
    expect(root.text).toMatch(
      /<\|im_start\|>user\nAdd it\.<\|im_end\|>\n<\|im_start\|>assistant\n(?:<think>\n\n<\/think>\n\n)?It is: Answer $/,
    );
    expect(root.ids).toEqual(await tokenizer.encodeRendered(root.text));
    const reply = { role: 'assistant', text: 'It is 4.' } as const;
    const first = plain(user('Add it.'));
    const { ids: contextIds } = await callContext(first, [], tokenizer, {});
    const outputIds = await tokenizer.encodeRendered('It is 4.<|im_end|>');
    const played = [{ id: '0', request: first, reply, parent: null, contextIds, outputIds, finish: 'stop' as const }];
    const next = await callContext(plain(user('Add it.'), reply, user('Again.'), open), played, tokenizer, {});
    expect(next).toMatchObject({ parent: '0', shared: 1 });
    expect(next.text).toMatch(
      /^\n<\|im_start\|>user\nAgain\.<\|im_end\|>\n<\|im_start\|>assistant\n.*It is: Answer $/s,
    );
    const strict = {
      ...toy,
      renderChat: (messages: Parameters<typeof toy.renderChat>[0]) =>
        toy.renderChat(messages.map((one) => ({ ...one, content: one.content.trim().toUpperCase() }))),
    };
    await expect(callContext(plain(user('Add it.'), open), [], strict, {})).rejects.toThrow('in another form');
  });

  test('gives the template its variables, in a root and behind a reply', async () => {
    const tokenizer = await openFamily('qwen3', REWRITING['qwen3']!.family);
    const form = { variables: { enable_thinking: false } };
    const request = { ...asked(user('Add it.')), tools: [] };
    const root = await callContext(request, [], tokenizer, form);
    const noThoughts = '<|im_start|>assistant\n<think>\n\n</think>\n\n';
    expect(root.text).toBe(`<|im_start|>user\nAdd it.<|im_end|>\n${noThoughts}`);
    const reply = { role: 'assistant', text: 'It is 4.' } as const;
    const outputIds = await tokenizer.encodeRendered('It is 4.<|im_end|>');
    const played = [
      { id: '0', request, reply, parent: null, contextIds: root.ids, outputIds, finish: 'stop' as const },
    ];
    const next = { ...asked(user('Add it.'), reply, user('Again.')), tools: [] };
    const { parent, text } = await callContext(next, played, tokenizer, form);
    expect({ parent, text }).toEqual({ parent: '0', text: `\n<|im_start|>user\nAgain.<|im_end|>\n${noThoughts}` });
  });
});
