// Judges a program by tests in Python: its process is asked by another one, in which the tests run, so that nothing of the answer
// reaches them but plain values. An answer to the head of a function is the whole function, or the body that continues it.

import { randomBytes } from 'node:crypto';
import type { Tests } from '../../domain/query/query.ts';
import type { Verdict } from '../../domain/rollout/verdict.ts';
import { escapeRegExp } from '../../domain/text/thoughts.ts';
import { behindThoughts } from '../../packages/judge/index.ts';
import type { CodeLimits, Language, Ran, Runner, Runtime, Sandbox } from '../../packages/sandbox/index.ts';
import { type CodeBlock, lastCodeBlock } from './extract.ts';

/** What tests and program may say to each other: the inputs and the results of all of them. */
const MOST_SAID_BYTES = 64 << 20;

/** Undefined if there is no program. `names`: one of them is called; the program's own if there is none. */
export function programIn(answer: string, tests: Tests | undefined, names = tests?.names ?? []): CodeBlock | undefined {
  const head = tests?.head;
  const block = lastCodeBlock(answer, (code) => defines(names, code) || (head !== undefined && /^[ \t]/.test(code)));
  if (head === undefined) return block;
  const { text, isOpen } = behindThoughts(answer);
  // What a model without a chat writes is code itself.
  const written = block ?? (isOpen || /```|~~~/.test(text) ? undefined : { code: text, tag: '' });
  if (!written || written.code.trim() === '') return undefined;
  return { ...written, code: continued(tests!, head, written.code) };
}

function defines(names: readonly string[], code: string): boolean {
  const any = names.map(escapeRegExp).join('|');
  return (
    any === '' ||
    new RegExp(`^[ \\t]*(?:(?:async[ \\t]+)?def|class)[ \\t]+(?:${any})\\b|^(?:${any})[ \\t]*=`, 'm').test(code)
  );
}

function continued({ before, names: [name = ''] }: Tests, head: string, code: string): string {
  const own = escapeRegExp(name);
  if (!new RegExp(`^(?:(?:async\\s+)?def\\s+${own}\\b|${own}\\s*=|class\\s+Solution\\b)`, 'm').test(code))
    return head + code;
  // Such an import comes first in a program.
  return /^from __future__ /m.test(code) ? code : before + code;
}

interface Parts {
  readonly language: Language;
  readonly runtime: Runtime;
  readonly sandbox: Sandbox;
  readonly runner: Runner;
  readonly limits: CodeLimits;
  readonly signal: AbortSignal;
}

export async function judgeByTests(
  tests: Tests,
  program: string,
  { language, runtime, sandbox, runner, limits, signal }: Parts,
): Promise<Verdict> {
  // The program never has it.
  const nonce = randomBytes(12).toString('hex');
  const ofProgram = { ...limits, outputBytes: MOST_SAID_BYTES };
  // The tests wait for the program, and may be megabytes of Python themselves.
  const { cpuSeconds, wallMs, memoryBytes } = ofProgram;
  const ofTests = { ...ofProgram, cpuSeconds: 2 * cpuSeconds, wallMs: 2 * wallMs, memoryBytes: 4 * memoryBytes };
  const run = (job: Buffer, own: CodeLimits) => ({
    launch: sandbox.launch(runtime.command, runtime.folders, own),
    job,
    limits: own,
  });
  const [ran, tested] = await runner.run(
    [
      run(language.encode({ kind: 'serve', program }, '-'), ofProgram),
      run(language.encode({ kind: 'test', tests }, nonce), ofTests),
    ],
    signal,
  );
  const [, word = '', calls, detail = ''] =
    new RegExp(`\\n${nonce} (\\w+) (\\d+) ([^]*)\\n$`).exec(tested!.errors) ?? [];
  const verdict = verdictOf(word, detail, ran!, tested!, language);
  return verdict.verdict === 'wrong' && Number(calls) > 0 ? { ...verdict, failedCall: Number(calls) } : verdict;
}

function verdictOf(word: string, detail: string, ran: Ran, tested: Ran, language: Language): Verdict {
  const wrong = (reason: string, suspectedTamper = false): Verdict => ({
    verdict: 'wrong',
    reason,
    ...(suspectedTamper && { suspectedTamper }),
  });
  if (word === 'passed') return { verdict: 'right', reason: 'all-cases' };
  if (word === 'bad') return { verdict: 'undecided', reason: 'bad-case' };
  if (word === 'failed') return wrong('different');
  if (word === 'raised') return wrong(language.reasonOf(1, detail));
  if (word === 'missing') return wrong('no-function');
  if (word === 'odd') return wrong('no-value');
  if (word === 'forged') return wrong('forged-result', true);
  const broken = ran.ending !== 'exited' || ran.exitCode !== 0 ? ran : tested;
  if (broken.ending === 'wall-limit') return wrong('timeout');
  if (broken.ending !== 'exited') return wrong(broken.ending);
  return broken.exitCode === 0 ? wrong('early-exit', true) : wrong(language.reasonOf(broken.exitCode, broken.errors));
}
