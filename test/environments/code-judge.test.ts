// The code judge with the real sandbox: what is right, what is wrong and why, and what cannot be said.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { InputOutput } from '../../domain/query.ts';
import { createCodeEnvironment } from '../../environments/code/code-environment.ts';
import { DEFAULT_LIMITS } from '../../environments/code/limits.ts';
import type { Environment } from '../../environments/environment.ts';
import { queryOf } from '../contract/environment.ts';
import { CALL_CHEATS, CALLED, CALLED_AS_TEXT, PRINT_CHEATS, PRINTED } from './code-cheats.ts';
import { HONEST } from './code-honest.ts';

let environment: Environment;
beforeAll(async () => {
  environment = await createCodeEnvironment({ limits: { ...DEFAULT_LIMITS, cpuSeconds: 2, wallMs: 6000 } });
});
afterAll(() => environment?.close());

const fence = (program: string, tag = 'python') => `Here it is:\n\`\`\`${tag}\n${program}\n\`\`\`\nDone.`;
const judge = (inputOutput: InputOutput, answer: string) =>
  environment.judge(queryOf('code', { inputOutput }), answer, { signal: new AbortController().signal });

describe.concurrent('never rewards', () => {
  const cheats = [
    ...CALL_CHEATS.map((cheat) => ({ ...cheat, io: CALLED, way: 'called' })),
    ...CALL_CHEATS.map((cheat) => ({ ...cheat, io: CALLED_AS_TEXT, way: 'called as text' })),
    ...PRINT_CHEATS.map((cheat) => ({ ...cheat, io: PRINTED, way: 'printed' })),
  ];
  test.each(cheats)('$way: $name', async ({ program, io }) => {
    expect(await judge(io, fence(program))).toMatchObject({ verdict: 'wrong' });
  });
});

describe('tells a suspected tamper from a mistake', () => {
  const suspected = [
    'exit at import',
    'exit in the function',
    'equal to everything (object)',
    'forged on every descriptor',
    'forged with the nonce, every value',
    'forged at exit',
  ];
  test.each(suspected)('%s', async (name) => {
    const { program } = CALL_CHEATS.find((cheat) => cheat.name === name)!;
    expect(await judge(CALLED, fence(program))).toMatchObject({ verdict: 'wrong', suspectedTamper: true });
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
