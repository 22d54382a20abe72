// The tool `python` in a real sandbox: what it prints is told, a traceback too, and it keeps nothing and reaches nothing.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { JudgeError } from '../../../domain/errors/errors.ts';
import { type CodeEnvironment, createCodeEnvironment } from '../../../environments/code/code-environment.ts';
import { proveSandbox } from '../../../packages/sandbox/index.ts';
import type { ToolAnswer } from '../../../environments/tools/tool.ts';
import { PYTHON, pythonDoor } from '../../../environments/tools/python.ts';
import { describeUnless } from '../../support/needs.ts';

const proof = await proveSandbox();
let code: CodeEnvironment;
/** As the activity does: a sandbox that was too busy is asked again. */
async function run(program: string, timeoutSeconds = 20): Promise<ToolAnswer> {
  for (let tries = 1; ; tries++) {
    try {
      return await once(program, timeoutSeconds);
    } catch (error) {
      if (!(error instanceof JudgeError) || tries === 10) throw error;
    }
  }
}
const once = (program: string, timeoutSeconds: number) =>
  pythonDoor(code).call(
    { ...PYTHON, timeoutSeconds },
    {
      arguments: { code: program },
      key: 'k',
      signal: new AbortController().signal,
      before: async () => undefined,
    },
    '/',
  );

describeUnless(proof.ok ? undefined : `no sandbox: ${proof.why}`)('the tool python', () => {
  beforeAll(async () => {
    code = await createCodeEnvironment();
  });
  afterAll(() => code.close());

  test('gives what the program prints, or that it printed nothing', async () => {
    expect(await run('print(6 * 7)\nprint("grüße")')).toEqual({ text: '42\ngrüße', outcome: 'ok' });
    expect(await run('x = 1')).toEqual({ text: '[it printed nothing]', outcome: 'ok' });
  });

  test('gives the traceback of a program that fails, behind what it printed', async () => {
    const { text, outcome } = await run('print("first")\n1 / 0');
    expect(outcome).toBe('failed');
    expect(text).toMatch(/^first\n[\s\S]*ZeroDivisionError: division by zero$/);
  });

  test('ends a program that goes on for ever, and one that prints for ever', async () => {
    expect(await run('while True: pass', 4)).toMatchObject({ outcome: 'timed-out' });
    const { text, outcome } = await run('while True: print("x" * 1000)', 10);
    expect([outcome, text.slice(-60)]).toEqual(['failed', expect.stringContaining('ended by the') as string]);
  });

  test('keeps no file for the next call, and has no network', async () => {
    await run('open("/tmp/kept", "w").write("x")');
    expect((await run('import os; print(os.path.exists("/tmp/kept"))')).text).toBe('False');
    expect((await run('import socket; socket.create_connection(("1.1.1.1", 80), 2)')).outcome).toBe('failed');
  });
});
