// A recorded reply in each dialect: every field that real servers were seen to send, the same ids whenever it is sent, a stream
// that adds up to the whole, and an echo that is known for the reply.

import { describe, expect, test } from 'vitest';
import { placeInTree } from '../../domain/agent/call-tree.ts';
import { requestHash } from '../../domain/agent/conversation.ts';
import type { AgentReply } from '../../domain/agent/reply.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import { type Dialect, type RecordedCalls, RefusedRequest, type StreamEvent } from '../../endpoint/dialects/dialect.ts';
import { chatDialect } from '../../endpoint/dialects/chat.ts';
import { messagesDialect } from '../../endpoint/dialects/messages.ts';
import { responsesDialect } from '../../endpoint/dialects/responses.ts';
import { readAs } from './recorded-agents.ts';

const REPLY: AgentReply = {
  call: '0123456789abcdef00',
  text: '  One “é”.\n',
  reasoning: 'Let me see. ',
  calls: [
    { name: 'add', arguments: '{"a":31337}' },
    { name: 'say', arguments: '{"b":"x\\n"}' },
  ],
  finish: 'stop',
  stopped: null,
  model: 'tiny',
  createdAt: 1_700_000_000,
  usage: { input: 30, cached: 10, output: 20, reasoning: 5 },
};
const ANSWER: AgentReply = { ...REPLY, calls: [], reasoning: '' };

type Any = { readonly [key: string]: Any } & readonly Any[];
const any = (value: unknown): Any => value as Any;

/** How a client puts a stream together. */
const WHOLE_OF: Readonly<Record<string, (events: readonly StreamEvent[]) => unknown>> = {
  '/chat/completions'(events) {
    const chunks = events.slice(0, -1).map(({ data }) => any(data));
    const choices = chunks.flatMap(({ choices }) => [...choices!]);
    const text = (key: string) => choices.map(({ delta }) => delta![key] ?? '').join('');
    return {
      content: text('content'),
      reasoning_content: text('reasoning_content'),
      tool_calls: choices
        .flatMap(({ delta }) => delta!['tool_calls'] ?? [])
        .map((call) => ({ ...call, index: undefined })),
      finish_reason: choices.at(-1)!['finish_reason'],
      usage: chunks.at(-1)!['usage'],
    };
  },
  '/responses': (events) => {
    const done = events.filter(({ name }) => name === 'response.output_item.done').map(({ data }) => any(data)['item']);
    const whole = any(events.at(-1)!.data)['response']!;
    expect(done).toEqual(whole['output']);
    expect(events.map(({ data }) => any(data)['sequence_number'])).toEqual(events.map((_, i) => i));
    return whole;
  },
  '/messages'(events) {
    const message = { ...any(any(events[0]!.data)['message']) } as Record<string, unknown>;
    const content: Record<string, unknown>[] = [];
    for (const { data } of events.slice(1)) {
      const { type, index, content_block: block, delta, usage } = any(data);
      const at = index as unknown as number;
      if (type === any('content_block_start')) content[at] = { ...block };
      else if (type === any('message_delta')) Object.assign(message, delta, { usage });
      else if (type === any('content_block_delta')) {
        const { type: kind, ...rest } = delta! as unknown as Record<string, string>;
        const [[key, piece]] = Object.entries(rest) as [[string, string]];
        if (kind === 'input_json_delta') content[at]!['input'] = JSON.parse(piece) as unknown;
        else content[at]![key] = `${content[at]![key] as string}${piece}`;
      }
    }
    return { ...message, content };
  },
};

const USER = 'Do it.';
/** The reply sent back as the dialect's own library does, with results behind it. */
const NEXT: readonly (readonly [Dialect, (whole: Any) => JsonObject])[] = [
  [
    chatDialect,
    (whole) => ({
      messages: [
        { role: 'user', content: USER },
        any(whole['choices']![0]!)['message']!,
        ...['1', '2'].map((content, i) => ({
          role: 'tool',
          content,
          tool_call_id: whole['choices']![0]!['message']!['tool_calls']![i]!['id']!,
        })),
      ],
    }),
  ],
  [
    responsesDialect,
    (whole) => ({
      input: [
        { role: 'user', content: USER },
        ...whole['output']!,
        ...['1', '2'].map((output, i) => ({
          type: 'function_call_output',
          output,
          call_id: whole['output']!.filter(({ type }) => type === any('function_call'))[i]!['call_id']!,
        })),
      ],
    }),
  ],
  [
    messagesDialect,
    (whole) => ({
      messages: [
        { role: 'user', content: USER },
        { role: 'assistant', content: whole['content']! },
        {
          role: 'user',
          content: ['1', '2'].map((content, i) => ({
            type: 'tool_result',
            content,
            tool_use_id: whole['content']!.filter(({ type }) => type === any('tool_use'))[i]!['id']!,
          })),
        },
      ],
    }),
  ],
];

/** Of the results behind the echo, by chat completions. */
const HASH_OF_SECOND = requestHash(
  readAs(chatDialect, NEXT[0]![1](any(chatDialect.whole(REPLY, {}))), () => undefined),
);

describe.each(NEXT.map(([dialect, next]) => ({ path: dialect.path, dialect, next })))(
  '$path',
  ({ path, dialect, next }) => {
    const body = { stream: true, stream_options: { include_usage: true }, tools: [], temperature: 0.5 };

    test.each([REPLY, ANSWER, { ...ANSWER, text: 'cut', finish: 'length' as const }])(
      'a stream adds up to the whole reply',
      (reply) => {
        const events = dialect.events(reply, body);
        const whole = any(dialect.whole(reply, body));
        const sum = WHOLE_OF[path]!(events);
        if (path !== '/chat/completions') return expect(sum).toEqual(whole);
        const { message, finish_reason } = whole['choices']![0]! as Any;
        const { content, reasoning_content = '', tool_calls = [] } = message! as Any;
        return expect(sum).toEqual({ content, reasoning_content, tool_calls, finish_reason, usage: whole['usage'] });
      },
    );

    test('the echo of a reply extends its call, and the next request is the same in every dialect', () => {
      const first = readAs(dialect, { messages: [{ role: 'user', content: USER }], input: USER }, () => undefined);
      const call = { id: REPLY.call, request: first, reply: dialect.message(REPLY) };
      const second = readAs(dialect, next(any(dialect.whole(REPLY, {}))), () => undefined);
      const placed = placeInTree(second, [call]);
      expect(placed).toMatchObject({ parent: call, reasoningDropped: false });
      expect(placed.parent && placed.added.map(({ role, text }) => [role, text])).toEqual([
        ['tool', '1'],
        ['tool', '2'],
      ]);
      expect(requestHash(second)).toBe(HASH_OF_SECOND);
    });

    test('a changed echo is a branch: another text, another argument, other reasoning', () => {
      const first = readAs(dialect, { messages: [{ role: 'user', content: USER }], input: USER }, () => undefined);
      const call = { id: REPLY.call, request: first, reply: dialect.message(REPLY) };
      for (const [from, to] of [
        ['One', 'Two'],
        ['31337', '31338'],
        ['Let me see', 'Let me think'],
      ] as const) {
        const changed = JSON.parse(JSON.stringify(next(any(dialect.whole(REPLY, {})))).replaceAll(from, to)) as unknown;
        const placed = placeInTree(
          readAs(dialect, changed, () => undefined),
          [call],
        );
        expect(placed).toMatchObject({ parent: null, branch: 'edited' });
      }
    });

    test('a reply whose arguments are nested a million deep is sent, known again and told from others', () => {
      const deep = { ...REPLY, calls: [{ name: 'add', arguments: `${'['.repeat(1e6)}${']'.repeat(1e6)}` }] };
      const first = readAs(dialect, { messages: [{ role: 'user', content: USER }], input: USER }, () => undefined);
      const call = { id: deep.call, request: first, reply: dialect.message(deep) };
      const request = { ...first, messages: [...first.messages, call.reply, { role: 'user' as const, text: 'On.' }] };
      expect(JSON.stringify(dialect.whole(deep, {}))).toContain('[[[[');
      expect(placeInTree(request, [call])).toMatchObject({ parent: { id: deep.call } });
      expect(placeInTree(request, [{ ...call, reply: dialect.message(REPLY) }])).toMatchObject({ parent: null });
    });

    test('has the fields that its clients look for, in every reply', () => {
      for (const reply of [REPLY, ANSWER]) {
        const whole = dialect.whole(reply, body);
        expect(Object.keys(whole)).toEqual(expect.arrayContaining([...FIELDS[path]!]));
        expect(Object.values(whole)).not.toContain(undefined);
        expect(dialect.whole(reply, body)).toEqual(whole);
      }
    });
  },
);

describe('a thread of /messages', () => {
  test('has the requests of its whole conversation, with its system text and its tools; an unknown one is named', () => {
    const tools = [{ name: 'add', input_schema: { type: 'object' } }];
    const asked = { system: 'You add.', tools, messages: [{ role: 'user', content: USER }] };
    const request = readAs(messagesDialect, { ...asked, thread: { type: 'create' } }, () => undefined);
    const recorded = (id: string) =>
      id === REPLY.call ? { request, reply: messagesDialect.message(REPLY) } : undefined;
    const whole = any(messagesDialect.whole(REPLY, {}));
    const repeated = { ...asked, ...NEXT[2]![1](whole) };
    const thread = { type: 'continue', previous_message_id: whole['id']! };
    const continuing = { messages: repeated.messages.slice(-1), thread };
    expect(requestHash(readAs(messagesDialect, continuing, recorded))).toBe(
      requestHash(readAs(messagesDialect, repeated, recorded)),
    );
    const refused = refusalOf(() => readAs(messagesDialect, continuing, () => undefined));
    expect(messagesDialect.refusal(refused)).toMatchObject({ error: { details: { error_code: 'thread_not_found' } } });
  });
});

function refusalOf(read: () => unknown): RefusedRequest {
  try {
    read();
  } catch (error) {
    if (error instanceof RefusedRequest) return error;
  }
  throw new Error('nothing was refused');
}

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  '/chat/completions': ['id', 'object', 'created', 'model', 'choices', 'usage', 'system_fingerprint', 'service_tier'],
  '/responses': [
    ...['id', 'object', 'created_at', 'status', 'error', 'incomplete_details', 'instructions', 'metadata', 'model'],
    ...['output', 'parallel_tool_calls', 'temperature', 'tool_choice', 'tools', 'top_p', 'usage'],
  ],
  '/messages': ['id', 'type', 'role', 'model', 'content', 'stop_reason', 'stop_sequence', 'usage'],
};

describe('the arguments of a call that is sent back', () => {
  const asked = (given: unknown, id = 'c1') => ({
    chat: {
      messages: [
        { role: 'assistant', content: null, tool_calls: [{ id, function: { name: 'add', arguments: given } }] },
      ],
    },
    responses: { input: [{ type: 'function_call', call_id: id, name: 'add', arguments: given }] },
  });
  const readAll = (given: unknown, id?: string, recorded: RecordedCalls = () => undefined) => {
    const bodies = asked(given, id);
    return [readAs(chatDialect, bodies.chat, recorded), readAs(responsesDialect, bodies.responses, recorded)].map(
      ({ messages: [message] }) => message!.calls![0]!.arguments,
    );
  };

  test('are an object or its text, and mean the same', () => {
    expect(readAll({ a: 1 })).toEqual([{ a: 1 }, { a: 1 }]);
    expect(readAll('{"a": 1}')).toEqual([{ a: 1 }, { a: 1 }]);
    expect(readAll('{"a": ')).toEqual(['{"a": ', '{"a": ']);
  });

  test.each(['{"a": 1, "a": 2}', `{"a": ${'['.repeat(300)}${']'.repeat(300)}}`])(
    'are refused where readers take them differently, but those of a model’s own reply: %#',
    (given) => {
      for (const [dialect, body] of Object.entries(asked(given))) {
        const read = () => readAs(dialect === 'chat' ? chatDialect : responsesDialect, body, () => undefined);
        expect(read).toThrow(/arguments (?:has the key "a" twice|is nested deeper)/);
      }
      const reply = chatDialect.message({ ...REPLY, calls: [{ name: 'add', arguments: given }] });
      const own: RecordedCalls = (call) =>
        call === REPLY.call ? { request: { messages: [], tools: [], limits: {} }, reply } : undefined;
      expect(readAll(given, reply.calls![0]!.id, own)).toEqual([given, given]);
    },
  );
});
