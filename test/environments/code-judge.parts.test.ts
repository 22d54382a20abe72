// The code judge with the real sandbox: what is right, what is wrong and why, and what cannot be said.

import { afterAll, describe, expect, test } from 'vitest';
import type { InputOutput } from '../../domain/query/query.ts';
import { createCodeEnvironment } from '../../environments/code/code-environment.ts';
import { DEFAULT_LIMITS } from '../../packages/sandbox/index.ts';
import { compiledRoom } from '../support/compiled.ts';
import type { Judge } from '../../environments/environment.ts';
import { environmentContract, queryOf } from '../contract/environment.ts';
import {
  CALL_CHEATS,
  CALLED,
  CALLED_AS_TEXT,
  EXCUSES,
  HONEST,
  PRINT_CHEATS,
  PRINTED,
  ROUGH,
  ROUGH_CHEATS,
} from '../../packages/sandbox/test/programs.ts';
import { until } from '../support/until.ts';
import { childrenOf, parentOf, pidsWith } from '../support/processes.ts';
import { hasSandbox, needsSandbox } from '../../packages/sandbox/test/rig.ts';

needsSandbox();

const limits = { ...DEFAULT_LIMITS, cpuSeconds: 2, wallMs: 6000 };
const neverAsked: Judge = { judge: () => Promise.reject(new Error('no sandbox')), close: async () => {} };
const environment = hasSandbox ? await createCodeEnvironment({ limits }) : neverAsked;
afterAll(() => environment.close());

const fence = (program: string, tag = 'python') => `Here it is:\n\`\`\`${tag}\n${program}\n\`\`\`\nDone.`;
const judge = (inputOutput: InputOutput, answer: string) =>
  environment.judge(queryOf('code', { inputOutput }), answer, { signal: new AbortController().signal });

describe.concurrent('never rewards', () => {
  const cheats = [
    ...CALL_CHEATS.map((cheat) => ({ ...cheat, io: CALLED, way: 'called' })),
    // The other spelling of arguments is read before the sandbox: a few cheats show that nothing else differs.
    ...CALL_CHEATS.filter((_, i) => i % 6 === 0).map((cheat) => ({
      ...cheat,
      io: CALLED_AS_TEXT,
      way: 'called as text',
    })),
    ...[...PRINT_CHEATS, ...EXCUSES].map((cheat) => ({ ...cheat, io: PRINTED, way: 'printed' })),
    ...ROUGH_CHEATS.map((cheat) => ({ ...cheat, io: ROUGH, way: 'printed roughly' })),
  ];
  test.each(cheats)('$way: $name', async ({ program, io }) => {
    expect(await judge(io, fence(program))).toMatchObject({ verdict: 'wrong' });
  });
});

describe('tells a suspected tamper from a mistake', () => {
  test('by a mark beside the verdict', async () => {
    const suspected = ['exit in the function', 'equal to everything (object)', 'forged with the nonce, every value'];
    for (const { name, program } of CALL_CHEATS.filter((cheat) => suspected.includes(cheat.name)))
      expect(await judge(CALLED, fence(program)), name).toMatchObject({ verdict: 'wrong', suspectedTamper: true });
  });
  test.each([
    'def solve(n):\n    return n + 1  # a mistake',
    'def solve(n):\n    return 1 / 0  # a crash',
    'def solve(n):\n    return {n}  # a set',
  ])('%s', async (program) => {
    const verdict = await judge(CALLED, fence(program));
    expect(verdict.verdict).toBe('wrong');
    expect(verdict.suspectedTamper).toBeUndefined();
  });
});

describe.concurrent('accepts every honest program', () => {
  test.each(HONEST)('$name', async ({ io, program }) => {
    expect(await judge(io, fence(program))).toMatchObject({ verdict: 'right', reason: 'all-cases' });
  });
});

const ADD: InputOutput = { inputs: ['1 2', '3 4'], outputs: ['3', '7'] };
const add = 'a, b = map(int, input().split())\nprint(a + b)';
environmentContract('code', 'code', () => environment, {
  query: { inputOutput: ADD },
  right: fence(add),
  wrong: fence(add.replace('+', '-')),
});

describe('says why', () => {
  const twice: InputOutput = { inputs: ['1'], outputs: ['2'], fn_name: 'twice' };
  test.each<[reason: string, io: InputOutput, answer: string]>([
    ['no-code', ADD, 'It is 3.'],
    ['unsupported-language', ADD, fence('int main() { return 0; }', 'cpp')],
    ['syntax-error', ADD, fence(`${add})`)],
    ['runtime-error', ADD, fence(`${add}\nraise KeyError(1)`)],
    ['runtime-error', ADD, fence(`${add}\nexit(3)`)],
    ['runtime-error', ADD, fence(`import resource\nresource.setrlimit(99, (1, 1))\n${add}`)],
    ['runtime-error', ADD, fence(`import resource\nresource.setrlimit(resource.RLIMIT_STACK, 5)\n${add}`)],
    ['memory-limit', ADD, fence(`${add}\nx = bytearray(1 << 30)`)],
    [
      'runtime-error',
      ADD,
      fence(`import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))\nbytearray(1 << 30)`),
    ],
    ['output-limit', ADD, fence('while True:\n    print("again and again")')],
    ['disk-limit', ADD, fence('for n in range(2000):\n    open(f"/tmp/{n}", "w").close()')],
    ['disk-limit', ADD, fence('with open("/tmp/big", "w") as file:\n    while True: file.write("again" * 9999)')],
    ['cpu-limit', ADD, fence('while True:\n    pass  # for ever')],
    ['crashed', ADD, fence('import ctypes\nctypes.string_at(0)')],
    ['different', ADD, fence(add.replace('+', '*'))],
    ['no-function', twice, fence('def thrice(n):\n    return 3 * n')],
    ['no-value', twice, fence('def twice(n):\n    return {n, n + 1}')],
    ['early-exit', twice, fence('def twice(n):\n    raise SystemExit')],
    ['runtime-error', twice, fence('def twice(n):\n    return twice(n - 1) if n > -1 else input()')],
  ])('%s', async (reason, io, answer) => {
    expect(await judge(io, answer)).toMatchObject({ verdict: 'wrong', reason });
  });

  test('timeout', async () => {
    const impatient = await createCodeEnvironment({ limits: { ...limits, wallMs: 300 } });
    const query = queryOf('code', { inputOutput: ADD });
    const answer = fence(`import time\ntime.sleep(60)\n${add}`);
    const verdict = await impatient.judge(query, answer, { signal: new AbortController().signal });
    expect(verdict).toMatchObject({ verdict: 'wrong', reason: 'timeout' });
    await impatient.close();
  });
});

describe('cannot say', () => {
  test.each<[reason: string, io: InputOutput]>([
    ['no-cases', { inputs: [], outputs: [] }],
    ['bad-case', { inputs: ['1 2', 7], outputs: ['3', '7'] }],
    ['case-too-big', { inputs: ['1 2', `3 ${' '.repeat(20 << 20)}4`], outputs: ['3', '7'] }],
  ])('%s, and a right program is undecided', async (reason, io) => {
    expect(await judge(io, fence(add))).toMatchObject({ verdict: 'undecided', reason });
  });

  test('a program that fails at a good case is wrong all the same', async () => {
    expect(await judge({ inputs: [7, '1 2'], outputs: ['3', '4'] }, fence(add))).toMatchObject({ verdict: 'wrong' });
  });
});

describe('the judge of code', () => {
  test('without a sandbox there is no judge, and the error says so', async () => {
    const path = process.env['PATH'];
    process.env['PATH'] = '/nowhere';
    try {
      await expect(createCodeEnvironment()).rejects.toMatchObject({ name: 'SandboxError', reason: 'no-sandbox' });
      const unsafe = await createCodeEnvironment({ unsafeWithoutSandbox: true, limits });
      const query = queryOf('code', { inputOutput: ADD });
      const { signal } = new AbortController();
      expect(await unsafe.judge(query, fence(add), { signal })).toMatchObject({ verdict: 'right' });
      expect(await unsafe.judge(query, fence('while True: pass  # for ever'), { signal })).toMatchObject({
        verdict: 'wrong',
      });
      await unsafe.close();
    } finally {
      process.env['PATH'] = path;
    }
  });

  const ADD_TESTED = { source: 'assert add(1, 2) == 3\n', before: '', names: ['add'] };
  test.each([
    ['cases', { inputOutput: ADD }, add],
    ['tests', { tests: ADD_TESTED }, 'def add(a, b):\n    return a + b'],
  ])('judges %s alike from a process of its own, whose death is no verdict', async (_, part, program) => {
    const own = await createCodeEnvironment({
      limits,
      runnerEntry: `${compiledRoom('packages/sandbox')}/runner-child.js`,
    });
    const query = queryOf('code', part);
    const ask = (code: string, signal = new AbortController().signal) => own.judge(query, fence(code), { signal });
    expect(await ask(program)).toMatchObject({ verdict: 'right' });
    expect(await ask(program.replace('+', '-'))).toMatchObject({ verdict: 'wrong', reason: 'different' });
    const child = pidsWith('sandbox/runner-child.js').find((pid) => parentOf(pid) === process.pid)!;

    const controller = new AbortController();
    const cancelled = ask('import time\ntime.sleep(60)', controller.signal);
    setTimeout(() => controller.abort(new Error('cancelled')), 300);
    await expect(cancelled).rejects.toThrow('cancelled');
    await until('nothing runs any more', () => childrenOf(child).length === 0 || undefined);

    const orphaned = ask('import time\ntime.sleep(60)');
    setTimeout(() => process.kill(child, 'SIGKILL'), 300);
    await expect(orphaned).rejects.toMatchObject({ name: 'JudgeError', retryable: true });
    expect(await ask(program)).toMatchObject({ verdict: 'right' });
    await own.close();
  });
});
