// The judge of code on a worker: only where a sandbox is proven, or the operator does without.

import { explain, SandboxError } from '../../domain/errors/errors.ts';
import { type CodeEnvironment, createCodeEnvironment } from './code-environment.ts';
import { UNSAFE_FLAG } from './consent.ts';

/** Undefined if no sandbox is proven: then this worker takes no code. */
export async function openCodeJudge(
  unsafe: boolean,
  say: (line: string) => void,
): Promise<CodeEnvironment | undefined> {
  try {
    const judge = await createCodeEnvironment({ unsafeWithoutSandbox: unsafe });
    if (unsafe) say(`UNSAFE: programs that a model wrote run here without a sandbox (${UNSAFE_FLAG}).`);
    return judge;
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    say(`This worker judges no code. ${explain(error)}`);
    return undefined;
  }
}
