// Tools behind each door: what they say of themselves, what a call gives, and what a door does when the process behind it
// hangs, dies or says nonsense.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { find, toolRig } from './tool-rig.ts';
import { rowsOf } from '../../support/rows.ts';

const { listOf, call, written } = toolRig();
const SERVER = `node ${join(import.meta.dirname, 'mcp-server.mjs')}`;
const SHOP = join(import.meta.dirname, '../../../examples/tools/shop.ts');
const module = (name: string, run: string, more = '') =>
  written(`${name}.mjs`, `export const tools = [{ name: '${name}', effect: 'pure', ${more} run: ${run} }];`);

describe('a module of tools', () => {
  test('says its tools, runs them with their key, and tells what they throw', async () => {
    const list = await listOf({ tool: [SHOP] });
    expect(list.map(({ name, effect, door, timeoutSeconds }) => [name, effect, door, timeoutSeconds])).toEqual([
      ['price', 'pure', 'module', 60],
      ['order', 'once', 'module', 30],
    ]);
    expect(await call(find(list, 'price'), { fruit: 'pear' })).toEqual({ text: '4', outcome: 'ok' });
    expect(await call(find(list, 'order'), { fruit: 'plum', count: 2 })).toEqual({
      text: '{"ordered":2,"fruit":"plum","total":10}',
      outcome: 'ok',
    });
    expect(await call(find(list, 'order'), { fruit: 'fig', count: 2 })).toEqual({
      text: 'We have no fig.',
      outcome: 'failed',
      trace: expect.stringMatching(/^Error: We have no fig\.\n {2}at shop\.ts:\d+ in run$/),
    });
  });

  test('that hangs is told as a time limit, one that dies is an outage, one that says it is away too', async () => {
    const [hang] = await listOf({ tool: [module('hang', '() => new Promise(() => {})', 'timeoutSeconds: 1,')] });
    expect(await call(hang!, {})).toEqual({ text: 'The tool hang gave no result in 1 s.', outcome: 'timed-out' });
    const [die] = await listOf({ tool: [module('die', '() => process.exit(1)')] });
    await expect(call(die!, {})).rejects.toMatchObject({ reason: 'tool-unavailable', retryable: true });
    const [away] = await listOf({
      tool: [module('away', "() => { throw Object.assign(new Error('no net'), { outage: true }); }")],
    });
    await expect(call(away!, {})).rejects.toMatchObject({ reason: 'tool-unavailable', retryable: true });
    const [large] = await listOf({ tool: [module('large', "() => 'x'.repeat(3_000_000)")] });
    expect(await call(large!, {})).toMatchObject({ outcome: 'failed' });
  });

  test('shows the model what it gave, whatever that is', async () => {
    const given = { NaN: 'NaN', '-1 / 0': '-Infinity', null: 'null', undefined: '' };
    const all = { ...given, '({ mean: 0 / 0, n: [1, Infinity] })': '{"mean":"NaN","n":[1,"Infinity"]}' };
    const odd = Object.keys(all).map((result, i) => `{ name: 'odd${i}', effect: 'pure', run: () => (${result}) }`);
    const list = await listOf({ tool: [written('odd.mjs', `export const tools = [${odd.join()}];`)] });
    const texts = await Promise.all(list.map((tool) => call(tool)));
    expect(texts).toEqual(Object.values(all).map((text) => ({ text, outcome: 'ok' })));
  });
});

describe('an MCP server', () => {
  test('says its tools on all pages, with effects from its annotations', async () => {
    const list = await listOf({ mcp: [SERVER] });
    expect(list.map(({ name, effect, door }) => [name, effect, door])).toEqual([
      ['add', 'pure', 'mcp'],
      ['wait', 'once', 'mcp'],
      ['fail', 'idempotent', 'mcp'],
      ['die', 'pure', 'mcp'],
    ]);
  });

  test('gets the key, and its texts are the result; a failed tool is told, a lost server is an outage', async () => {
    const list = await listOf({ mcp: [SERVER], toolTimeoutSeconds: 1 });
    expect(await call(find(list, 'add'), { a: 1, b: 2 })).toEqual({
      text: '3 for r/q/0/1/2/1\n[image: image/png, 3 bytes]',
      outcome: 'ok',
    });
    expect(await call(find(list, 'fail'), {})).toEqual({ text: 'it is broken', outcome: 'failed' });
    expect(await call(find(list, 'wait'), {})).toMatchObject({ outcome: 'timed-out' });
    await expect(call(find(list, 'die'), {})).rejects.toMatchObject({ reason: 'tool-unavailable', retryable: true });
    // The next call starts it again.
    expect(await call(find(list, 'add'), { a: 2, b: 2 })).toMatchObject({ outcome: 'ok' });
  });

  test('that has other tools than the run is refused by name', async () => {
    const add = find(await listOf({ mcp: [SERVER] }), 'add');
    const other = { ...add, description: 'Adds three.', fingerprint: 'a'.repeat(64) };
    await expect(call(other, { a: 1, b: 2 })).rejects.toMatchObject({ reason: 'tool-mismatch', retryable: false });
  });
});

describe('tools of a command line', () => {
  test.each([
    [{ tool: ['python', 'python'] }, 'bad-tool', 'Two tools are named "python"'],
    [{ tool: ['ruby'] }, 'bad-value', 'neither python nor a module'],
    [{ tool: ['./none.ts'] }, 'bad-value', 'is no file'],
    [{ mcp: ['https://tools.example'] }, 'bad-value', 'is an address'],
    [{ mcp: ['no-such-program-here'] }, 'bad-value', 'neither a file nor a program of the PATH'],
    [{ mcp: ['cat'] }, 'tool-unloadable', 'The MCP server cat does not begin'],
    [{ mcp: ['/bin/sh -c "exit 3"'] }, 'tool-unloadable', 'ended with exit code 3'],
    [{ mcp: ['no-such-program-here --x'] }, 'tool-unloadable', 'the program was not found'],
  ])('%j are refused: %s, %s', async (specs, reason, said) => {
    const asked = listOf(specs);
    await expect(asked).rejects.toMatchObject({ reason });
    await expect(asked).rejects.toThrow(said);
  });

  test.each(rowsOf<Record<'text' | 'reason' | 'said', string>>('./broken-modules.jsonl', import.meta.url))(
    'in a module are refused: $text',
    async ({ text, reason, said }) => {
      const asked = listOf({ tool: [written('bad.ts', text)] });
      await expect(asked).rejects.toMatchObject({ reason });
      await expect(asked).rejects.toThrow(said);
      // Its processes are those of environments; its errors speak of tools.
      await expect(asked).rejects.not.toThrow('environment');
    },
  );
});

describe('docs/tools.md', () => {
  test('has a module that works as written', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/tools.md'), 'utf8');
    const [, text] = /```ts\n(.*?)```/s.exec(page)!;
    const [price] = await listOf({ tool: [written('documented.ts', text!)] });
    expect(price).toMatchObject({ name: 'price', effect: 'pure', timeoutSeconds: 60 });
    expect(await call(price!, { fruit: 'pear' })).toEqual({ text: '4', outcome: 'ok' });
  });
});
