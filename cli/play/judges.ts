// The judges for commands without a worker: mathematics in killable child processes on all cores, code
// in a sandbox that is proved when the first program is judged.

import { availableParallelism } from 'node:os';
import { createCodeEnvironment } from '../../environments/code/code-environment.ts';
import { unsafeCodeAllowed } from '../../environments/code/consent.ts';
import type { Judge } from '../../environments/environment.ts';
import type { PairJudges } from '../../environments/judge-pairs.ts';
import { createMathJudge, type MathJudge } from '../../environments/math/math-environment.ts';
import type { Io } from '../io.ts';

export interface Judges extends PairJudges {
  readonly math: MathJudge;
  close(): Promise<void>;
}

/** Judgements in one message to a child: as many again wait there, so that it never stands still. */
const BATCH = 128;
/** Answers in flight: enough to keep every core busy, and some queued. */
export const AT_ONCE = 3 * BATCH * availableParallelism();
/** Characters in flight. A longer line is judged by itself. */
export const MOST_CHARS = 64 * 1024 * 1024;

/** `unsafe`: the flag was given. `code` throws a SandboxError if there is no sandbox. */
export function openJudges(io: Io, unsafe: boolean): Judges {
  const unsafeWithoutSandbox = unsafe || unsafeCodeAllowed(io.env);
  const math = createMathJudge({ children: availableParallelism(), batch: BATCH });
  let opened: Promise<Judge> | undefined;
  return {
    math,
    code: {
      judge: async (...judged) => (await (opened ??= createCodeEnvironment({ unsafeWithoutSandbox }))).judge(...judged),
    },
    async close() {
      math.close();
      await opened?.then(
        (code) => code.close(),
        () => undefined,
      );
    },
  };
}
