// Tools in Python: what a function's hints and docstring declare, what a call gives, and what the door does when a
// function throws, hangs, dies or prints. Needs a python3; where none is, the tests say so and are skipped.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { ToolRecord } from '../../../domain/tools/tool.ts';
import { describeTools } from '../../../environments/tools/describe.ts';
import { openTools } from '../../../environments/tools/open.ts';
import { putCode } from '../../../records/run/code.ts';

const folder = mkdtempSync(join(tmpdir(), 'everturn-python-tools-'));
const said: string[] = [];
const log = (line: string) => void said.push(line);
const tools = openTools({ code: undefined, log, permitted: ({ spec }) => spec });
afterAll(async () => {
  await tools.close();
  rmSync(folder, { recursive: true, force: true });
});
const hasPython = spawnSync('python3', ['-c', 'import json']).status === 0;
const SHOP = join(import.meta.dirname, '../../../examples/tools/shop.py');

async function listOf(file: string) {
  const { list, codes } = await describeTools({ tool: [file], mcp: [], toolTimeoutSeconds: null }, folder, log);
  for (const code of codes) await putCode(folder, code);
  return list;
}
let files = 0;
function module(text: string): string {
  const file = `./tools_${++files}.py`;
  writeFileSync(join(folder, file), `import everturn\nfrom typing import *\n${text}\n`);
  return file;
}
const call = (tool: ToolRecord, given: object) =>
  tools.call(
    tool,
    { arguments: given as never, key: 'r/q/0/1/2/1', signal: new AbortController().signal, before: async () => {} },
    folder,
  );

describe.skipIf(!hasPython)('a Python module of tools', () => {
  test('declares each function by its hints, docstring and decorator, and runs it with the key of the call', async () => {
    const list = await listOf(SHOP);
    expect(list.map(({ name, effect, door, timeoutSeconds }) => [name, effect, door, timeoutSeconds])).toEqual([
      ['price', 'pure', 'module', 60],
      ['order', 'once', 'module', 30],
    ]);
    expect(list[0]).toMatchObject({
      description: 'The price of one fruit.',
      parameters: {
        type: 'object',
        properties: { fruit: { type: 'string', description: 'its name, in English' } },
        required: ['fruit'],
        additionalProperties: false,
      },
    });
    expect(list[1]!.parameters).toMatchObject({
      properties: { fruit: { enum: ['apple', 'pear', 'plum'] }, count: { type: 'integer', default: 1 } },
      required: ['fruit'],
    });
    expect(await call(list[1]!, { fruit: 'plum', count: 2 })).toEqual({
      text: '{"ordered":2,"fruit":"plum","total":10,"receipt":"r/q/0/1/2/1"}',
      outcome: 'ok',
    });
    expect(await call(list[0]!, { fruit: 'fig' })).toEqual({
      text: "KeyError: 'fig'",
      outcome: 'failed',
      trace: expect.stringMatching(/^Traceback .*\n  File "shop\.py", line 16, in price\n.*\nKeyError: 'fig'$/s),
    });
    // The log is another pipe.
    await expect.poll(() => said.join('\n'), { timeout: 10_000 }).toMatch(/shop\.py", line 16, in price/);
  });

  test.each([
    ['str', { type: 'string' }],
    ['float', { type: 'number' }],
    ['List[int]', { type: 'array', items: { type: 'integer' } }],
    ['Dict[str, bool]', { type: 'object', additionalProperties: { type: 'boolean' } }],
    ['Optional[str]', { anyOf: [{ type: 'string' }, { type: 'null' }] }],
    ['"list"', { type: 'array' }],
    ['Any', {}],
  ])('takes the hint %s', async (hint, schema) => {
    const [tool] = await listOf(module(`def odd(x: ${hint}):\n    "Takes it."\n    return x`));
    expect(tool).toMatchObject({ effect: 'once', parameters: { properties: { x: schema } } });
  });

  test.each([
    ['"é\\n"', 'é\n'],
    ['None', ''],
    ['True', 'true'],
    ['[float("nan"), -float("inf"), 0.5]', '["NaN","-Infinity",0.5]'],
    ['"\\ud800"', '?'],
  ])('that returns %s shows the model what it gave', async (result, text) => {
    const [odd] = await listOf(module(`def odd():\n    "Odd."\n    print("noise")\n    return ${result}`));
    expect(await call(odd!, {})).toEqual({ text, outcome: 'ok' });
  });

  test('awaits a coroutine, and calls another time in the same process', async () => {
    const [odd] = await listOf(module('async def odd(x: int):\n    "Odd."\n    return x + 1'));
    expect(await call(odd!, { x: 1 })).toEqual({ text: '2', outcome: 'ok' });
    expect(await call(odd!, { x: 2 })).toEqual({ text: '3', outcome: 'ok' });
  });

  test('that calls sys.exit fails its call, as any exception does, and not the process', async () => {
    const [bye] = await listOf(module('def bye(code: int):\n    "Ends."\n    import sys; sys.exit(code)'));
    expect(await call(bye!, { code: 3 })).toMatchObject({ text: 'SystemExit: 3', outcome: 'failed' });
    expect(await call(bye!, { code: 0 })).toMatchObject({ text: 'SystemExit: 0', outcome: 'failed' });
    await expect(listOf(module('import sys; sys.exit("no licence")'))).rejects.toThrow(/SystemExit: no licence/);
  });

  test('that is no text in UTF-8 is refused', async () => {
    writeFileSync(join(folder, 'latin.py'), Buffer.from('# caf\xe9', 'latin1'));
    await expect(listOf('./latin.py')).rejects.toThrow('latin.py is not text in UTF-8');
  });

  test('that hangs is told as a time limit, one that dies is an outage, one that says it is away too', async () => {
    const [hang] = await listOf(
      module('@everturn.pure(timeout_seconds=1)\ndef hang():\n    "Hangs."\n    while True: pass'),
    );
    expect(await call(hang!, {})).toEqual({ text: 'The tool hang gave no result in 1 s.', outcome: 'timed-out' });
    const [die] = await listOf(module('def die():\n    "Dies."\n    import os; os._exit(1)'));
    await expect(call(die!, {})).rejects.toMatchObject({ reason: 'tool-unavailable', retryable: true });
    const [away] = await listOf(module('def away():\n    "Away."\n    raise everturn.Outage("no net")'));
    await expect(call(away!, {})).rejects.toMatchObject({
      reason: 'tool-unavailable',
      retryable: true,
      message: expect.stringMatching(/no net$/),
      trace: expect.stringMatching(/line 5, in away\n.*no net$/s),
    });
  });

  test.each([
    ['x = 1', /it defines no tool: a public function with type hints and a docstring/],
    ['def odd(x):\n    "Odd."', /odd: the parameter `x` has no type hint/],
    ['def odd(x: object):\n    "Odd."', /odd: the parameter `x` has the type .*object/],
    ['def odd(*x: int):\n    "Odd."', /odd: the parameter `x` cannot be named in a call/],
    ['@everturn.once\ndef odd():\n    pass', /odd has no docstring/],
    ['import no_such_package', /ModuleNotFoundError: No module named 'no_such_package'/],
    ['def odd(:', /SyntaxError/],
  ])('that cannot be used is refused with its reason: %s', async (text, why) => {
    await expect(listOf(module(text))).rejects.toMatchObject({
      reason: 'tool-unloadable',
      message: expect.stringMatching(why),
    });
  });
});
