// Tools in Python: what a function's hints and docstring declare, what a call gives, and what the door does when a
// function throws, hangs, dies or prints. Needs a python3; where none is, the tests say so and are skipped.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeUnless, NO_PYTHON } from '../../support/needs.ts';
import { toolRig } from './tool-rig.ts';

const { said, listOf: listOfSpecs, call, written } = toolRig();
const SHOP = join(import.meta.dirname, '../../../examples/tools/shop.py');
const listOf = (file: string) => listOfSpecs({ tool: [file] });
let files = 0;
const module = (text: string): string =>
  written(`tools_${++files}.py`, `import everturn\nfrom typing import *\n${text}\n`);

describeUnless(NO_PYTHON)('a Python module of tools', () => {
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

  test('takes hints for schemas', async () => {
    const hints: [string, object][] = [
      ['str', { type: 'string' }],
      ['float', { type: 'number' }],
      ['List[int]', { type: 'array', items: { type: 'integer' } }],
      ['Dict[str, bool]', { type: 'object', additionalProperties: { type: 'boolean' } }],
      ['Optional[str]', { anyOf: [{ type: 'string' }, { type: 'null' }] }],
      ['"list"', { type: 'array' }],
      ['Any', {}],
    ];
    const odd = hints.map(([hint], i) => `def odd${i}(x: ${hint}):\n    "Takes it."\n    return x`);
    for (const [i, tool] of (await listOf(module(odd.join('\n')))).entries())
      expect(tool, hints[i]![0]).toMatchObject({ effect: 'once', parameters: { properties: { x: hints[i]![1] } } });
  });

  test('shows the model what a call gave', async () => {
    const results = {
      '"é\\n"': 'é\n',
      None: '',
      True: 'true',
      '[float("nan"), -float("inf"), 0.5]': '["NaN","-Infinity",0.5]',
      '"\\ud800"': '?',
    };
    const odd = Object.keys(results).map(
      (result, i) => `def odd${i}():\n    "Odd."\n    print("noise")\n    return ${result}`,
    );
    for (const [i, tool] of (await listOf(module(odd.join('\n')))).entries())
      expect(await call(tool)).toEqual({ text: Object.values(results)[i], outcome: 'ok' });
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
    await expect(listOf(written('latin.py', Buffer.from('# caf\xe9', 'latin1')))).rejects.toThrow(
      'latin.py is not text in UTF-8',
    );
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
