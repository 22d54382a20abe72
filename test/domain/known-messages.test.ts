// A conversation that is sent again with each call is kept once.

import { describe, expect, test } from 'vitest';
import {
  type AgentMessage,
  type AskedRequest,
  requestHash,
  withKnownMessages,
} from '../../domain/agent/conversation.ts';

const user = (text: string): AgentMessage => ({ role: 'user', text });
const reply = (text: string, more: Partial<AgentMessage> = {}): AgentMessage => ({ role: 'assistant', text, ...more });
const tools = () => [{ name: 'add', description: 'Adds.', parameters: { type: 'object' } }];
const asked = (...messages: AgentMessage[]): AskedRequest => ({ messages, tools: tools(), limits: {} });

describe('a request with what it repeats of earlier ones', () => {
  test('is the same request, and has the very messages and tools of the one that begins most like it', () => {
    const other = asked(user('Hi.'), reply('Ho.'));
    const first = asked(user('Hi.'), reply('A.', { calls: [{ id: 'c', name: 'add', arguments: { a: 1 } }] }));
    const sent = structuredClone(asked(...first.messages, { role: 'tool', text: '1', callId: 'c' }, user('Go on.')));
    const known = withKnownMessages(sent, [other, first]);
    expect(known).toEqual(sent);
    expect(requestHash(known)).toBe(requestHash(sent));
    expect(known.messages[0]).toBe(first.messages[0]);
    expect(known.messages[1]).toBe(first.messages[1]);
    expect(known.tools).toBe(first.tools);
    const again = withKnownMessages(structuredClone(sent), [known]);
    expect(again.messages.map((message, i) => message === known.messages[i])).toEqual([true, true, true, true]);
  });

  test.each<[string, AgentMessage]>([
    ['reasoning', reply('A.', { reasoning: 'So.' })],
    ['ids', reply('A.', { ids: ['i'] })],
    ['calls', reply('A.', { calls: [{ id: 'c', name: 'add', arguments: {} }] })],
    ['a text', reply('B.')],
  ])('keeps a message of its own where %s differs, and all behind it', (_what, message) => {
    const first = asked(user('Hi.'), reply('A.'), user('Go on.'));
    const sent = structuredClone(asked(user('Hi.'), message, user('Go on.')));
    const known = withKnownMessages(sent, [first]);
    expect(known).toEqual(sent);
    expect(known.messages.map((one, i) => one === first.messages[i])).toEqual([true, false, false]);
  });

  test('is left as it is where nothing is equal, or nothing came before', () => {
    const sent = asked(user('Ho.'));
    expect(withKnownMessages(sent, [])).toBe(sent);
    expect(withKnownMessages(sent, [asked(user('Hi.'))])).toBe(sent);
  });
});
