// MCP servers as they are met: errors, names, pages of a list, and messages that are none.

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isToolName, ownName } from '../../../domain/tools/tool.ts';
import { callableTools } from '../../../environments/tools/describe.ts';
import { toolRig } from './tool-rig.ts';

const { listOf: listOfSpecs, call } = toolRig();
const commandOf = (oddity: string, what: unknown = null) =>
  [
    'node',
    join(import.meta.dirname, 'odd-server.mjs'),
    oddity,
    `'${JSON.stringify(what).replaceAll("'", String.raw`'\''`)}'`,
  ].join(' ');

const listOf = (oddity: string, what?: unknown, more: readonly string[] = []) =>
  listOfSpecs({ mcp: [commandOf(oddity, what), ...more], toolTimeoutSeconds: 5 });
const callOne = async (oddity: string, what?: unknown) => call((await listOf(oddity, what))[0]!);
/** What a server gives, each by a tool of its own: with its result, or another reply. */
async function callEach(replies: readonly object[]) {
  const list = await listOf('replies', replies);
  return Promise.all(list.map((tool) => call(tool)));
}

describe('an error in place of a result', () => {
  test('is a known outcome, and told as it is', async () => {
    const errors: [object, string][] = [
      [{ error: { code: -32603, message: 'Internal error: locked' } }, 'Internal error: locked'],
      [{ error: { code: -32602, message: 'a is no number' } }, 'a is no number'],
      [{ error: { code: -32601, message: 'Method not found' } }, 'Method not found'],
      [{ error: { code: -32002, message: 'no such file', data: { uri: 'file:///a' } } }, 'no such file'],
      [{ error: { code: -32042, message: 'sign in first', data: { elicitations: [{ url: 'x' }] } } }, 'sign in first'],
      [{ error: { code: 'LOCKED', message: 'two\nlines' } }, 'two\nlines'],
      [{ error: { message: 'no code' }, result: null }, 'no code'],
      [{ error: { code: 7 } }, '{"code":7}'],
      [{ error: 'boom' }, 'boom'],
    ];
    const told = await callEach(errors.map(([error]) => error));
    expect(told).toEqual(errors.map(([, text]) => ({ text, outcome: 'failed' })));
  });
});

describe('a result', () => {
  test('is told', async () => {
    const results: [object, string, string?][] = [
      [{ content: [{ type: 'text', text: 'a' }], error: null }, 'a'],
      [{ content: [{ type: 'text', text: 'away' }], isError: true }, 'away', 'failed'],
      [{ content: [], structuredContent: { sum: 5 } }, '{"sum":5}'],
      [{ content: null, structuredContent: [5] }, '[5]'],
      [{ content: [] }, ''],
      [{ content: [{ type: 'hologram', uri: 'x:y' }] }, '[hologram: x:y]'],
    ];
    const told = await callEach(results.map(([result]) => ({ result })));
    expect(told).toEqual(results.map(([, text, outcome = 'ok']) => ({ text, outcome })));
  });

  test.each([[{}], [null], ['text'], [{ content: 'text' }]])('%j is none: an outage', async (result) => {
    await expect(callOne('replies', [{ result }])).rejects.toMatchObject({
      reason: 'tool-unavailable',
      retryable: true,
    });
  });
});

describe('the name of a tool', () => {
  const LONG = 'sheet.'.repeat(22).slice(0, 128);
  const names = async (...own: string[]) =>
    (await listOf('names', own)).map((tool) => [tool.name, ownName(tool)] as const);

  test('is shown to the model as one that it can call, and its server gets its own', async () => {
    const list = await listOf('names', ['sheet.add', 'plain', LONG, 'liste/größe']);
    expect(list.map(({ name }) => name)).toEqual([
      'sheet_add',
      'plain',
      LONG.replaceAll('.', '_').slice(0, 64),
      'liste_gr__e',
    ]);
    for (const tool of list) expect(await call(tool)).toEqual({ text: ownName(tool), outcome: 'ok' });
    expect(list.map(ownName)).toEqual(['sheet.add', 'plain', LONG, 'liste/größe']);
    // A name that needs no other has no other.
    expect(list[1]).not.toHaveProperty('own');
  });

  test('is no other’s, and the same in any order and beside other servers', async () => {
    const own = ['a.b', 'a_b', 'a b', `${LONG.slice(0, 127)}x`, LONG, 'sheet.add'];
    const found = await names(...own);
    const shown = found.map(([name]) => name);
    expect(new Set(shown).size).toBe(own.length);
    expect(shown.every(isToolName)).toBe(true);
    expect(found).toContainEqual(['a_b', 'a_b']);
    expect(found).toContainEqual(['sheet_add', 'sheet.add']);
    expect(Object.fromEntries(await names(...own.toReversed()))).toEqual(Object.fromEntries(found));
    // Of another server: both can be called.
    const both = await listOf('names', ['sheet.add'], [commandOf('names', ['sheet_add'])]);
    expect(both.map(ownName)).toEqual(['sheet.add', 'sheet_add']);
    expect(new Set(both.map(({ name }) => name)).size).toBe(2);
    for (const tool of both) expect(await call(tool)).toEqual({ text: ownName(tool), outcome: 'ok' });
    expect(callableTools(both)).toEqual(both);
  });

  test.each([[''], ['   '], ['x'.repeat(129)], ['a\u0000b'], [7]])('%j is refused', async (name) => {
    await expect(listOf('names', ['good', name])).rejects.toMatchObject({ reason: 'bad-tool' });
  });

  test('is refused if two have it as their own', async () => {
    await expect(listOf('names', ['a.b', 'a.b'])).rejects.toThrow('named twice');
    await expect(listOf('names', ['a.b'], [commandOf('names', ['a.b'])])).rejects.toThrow('Two tools are named "a.b"');
  });
});

describe('a list of tools', () => {
  test.each([
    ['goes on after an empty cursor', ['', 'absent'], 2],
    ['goes on after any other', ['0', '', 'x', 'absent'], 4],
    ['ends with a cursor that is null', [null], 1],
    ['ends without a cursor', ['absent'], 1],
    ['ends where one page is given again and again', [''], 2],
  ])('%s', async (_, cursors, count) => {
    const list = await listOf('cursors', cursors);
    expect(list.map(({ name }) => name)).toEqual(Array.from({ length: count }, (__, i) => `page${i}`));
  });

  test('without an end is refused', async () => {
    await expect(listOf('endless')).rejects.toMatchObject({
      reason: 'bad-tool',
      message: expect.stringContaining('more than 64 pages') as string,
    });
  });

  test('whose cursor is no text is refused by the field', async () => {
    await expect(listOf('cursors', [7])).rejects.toMatchObject({
      reason: 'tool-unloadable',
      message: expect.stringContaining('nextCursor') as string,
    });
  });
});

describe('a server', () => {
  const RIGHT = '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"right"}]}}\n';

  test.each([
    ['a greeting that is no JSON', 'hello\n{"half": \n'],
    ['messages of no form', '7\nnull\n"x"\n[]\n[[]]\n{}\n{"id":{}}\n{"id":null,"result":{}}\n{"method":7}\n'],
    ['replies to no request', '{"id":99999,"result":{}}\n{"id":"none","error":{"code":1,"message":"x"}}\n'],
    [
      'odd notifications',
      '{"method":"notifications/progress","params":{"progressToken":{}}}\n{"method":"notifications/cancelled","params":[]}\n{"method":"__proto__","params":{}}\n',
    ],
    [
      'requests of its own',
      '{"id":1,"method":"roots/list"}\n{"id":"a","method":"ping"}\n{"id":2,"method":"constructor"}\n{"id":3,"method":"sampling/createMessage","params":{"_meta":{"io.modelcontextprotocol/x":1}}}\n',
    ],
  ])('may say %s before its result', async (_, said) => {
    expect(await callOne('raw', said + RIGHT)).toEqual({ text: 'right', outcome: 'ok' });
  });

  test('may give its result in a batch, without the version of the protocol', async () => {
    const batch = `[${RIGHT.trim().replace('"jsonrpc":"2.0",', '')},{"method":"notifications/message"}]\n`;
    expect(await callOne('raw', batch)).toEqual({ text: 'right', outcome: 'ok' });
  });

  test('that gives more than is read, says a key twice or says nothing ends no other thing than its call', async () => {
    expect(await callOne('large')).toEqual({ text: 'The tool one gave more than is shown.', outcome: 'failed' });
    const doubled = RIGHT.replace('"result"', '"result":{},"result"');
    await expect(callOne('raw', doubled)).rejects.toMatchObject({
      reason: 'tool-unavailable',
      message: expect.stringContaining('has the key "result" twice') as string,
    });
    const [silent] = await listOf('silent');
    const inTime = { ...silent!, timeoutSeconds: 1 };
    expect(await call(inTime)).toEqual({ text: 'The tool one gave no result in 1 s.', outcome: 'timed-out' });
  });

  test.each([[{ protocolVersion: '1.0' }], [{ protocolVersion: 7 }], [{ serverInfo: null }]])(
    'that greets with %j does not begin',
    async (hello) => {
      await expect(listOf('hello', hello)).rejects.toMatchObject({
        reason: 'tool-unloadable',
        message: expect.stringContaining('does not begin: ') as string,
      });
    },
  );
});
