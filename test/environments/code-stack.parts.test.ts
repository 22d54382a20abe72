// Programs that set their own limits before they recurse, as contest programs do. Here a limit that is asked for and not
// to be had is no failure; and asking lifts nothing.

import { afterAll, describe, expect, test } from 'vitest';
import type { InputOutput } from '../../domain/query/query.ts';
import { createCodeEnvironment } from '../../environments/code/code-environment.ts';
import type { Judge } from '../../environments/environment.ts';
import { queryOf } from '../contract/environment.ts';
import { hasSandbox, needsSandbox } from './code-rig.ts';

needsSandbox();
const neverAsked: Judge = { judge: () => Promise.reject(new Error('no sandbox')), close: async () => {} };
const environment = hasSandbox ? await createCodeEnvironment({}) : neverAsked;
afterAll(() => environment.close());

const judge = (inputOutput: InputOutput, program: string) =>
  environment.judge(queryOf('code', { inputOutput }), `\`\`\`python\n${program}\n\`\`\``, {
    signal: new AbortController().signal,
  });

const SUM: InputOutput = { inputs: ['30000'], outputs: ['450015000'] };
const CALLED: InputOutput = { inputs: [[30000]], outputs: [450015000], fn_name: 'total' };
const total = 'def total(n):\n    return 0 if n == 0 else n + total(n - 1)\n';
const straight = 'print(total(int(input())))';
const threaded =
  'import threading\nt = threading.Thread(target=lambda: print(total(int(input()))))\nt.start()\nt.join()';

const LIMITS: readonly [name: string, lines: string][] = [
  [
    'all the stack there is',
    'import resource\nresource.setrlimit(resource.RLIMIT_STACK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))',
  ],
  ['a gigabyte', 'import resource\nresource.setrlimit(resource.RLIMIT_STACK, (1 << 30, 1 << 30))'],
  ['by prlimit', 'import resource, os\nresource.prlimit(os.getpid(), resource.RLIMIT_STACK, (-1, -1))'],
  ['the greatest recursion limit', 'import sys\nsys.setrecursionlimit(2**31 - 1)'],
  ['64 MiB for threads', 'import threading\nthreading.stack_size(1 << 26)'],
  ['512 MiB for threads', 'import sys, threading\nsys.setrecursionlimit(10**7)\nthreading.stack_size(2**29)'],
];

describe('a right program is right whatever stack it asks for', () => {
  test.each(LIMITS)('%s', async (_, lines) => {
    const right = { verdict: 'right', reason: 'all-cases' };
    expect(await judge(SUM, `${lines}\n${total}${straight}`), 'printed').toMatchObject(right);
    expect(await judge(SUM, `${lines}\n${total}${threaded}`), 'in a thread').toMatchObject(right);
    expect(await judge(CALLED, `${lines}\n${total}`), 'called').toMatchObject(right);
  });
});

describe('a program that asks for more', () => {
  test('gets no more memory', async () => {
    const more = 'import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))\nx = bytearray(1 << 30)\n';
    expect(await judge(SUM, `${more}${total}${straight}`)).toMatchObject({ verdict: 'wrong', reason: 'runtime-error' });
  });

  test('is still told what is no limit at all', async () => {
    for (const wrong of ['resource.setrlimit(99, (1, 1))', 'resource.setrlimit(resource.RLIMIT_STACK, 5)'])
      expect(await judge(SUM, `import resource\n${wrong}\n${total}${straight}`)).toMatchObject({
        reason: 'runtime-error',
      });
  });
});
