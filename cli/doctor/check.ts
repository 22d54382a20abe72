// One line of `doctor`: a check that tries the real thing, within a time limit, and says what to do if it fails.

import { EverturnError, explain } from '../../domain/errors/errors.ts';
import type { ExitCode } from '../exit.ts';
import { EXIT } from '../exit.ts';

/** `note`: works, or is not needed by most runs; it never fails the command. */
export type State = 'ok' | 'note' | 'fail';

export interface Finding {
  readonly state: State;
  readonly said: string;
  /** The remedy; always there unless the state is ok. */
  readonly fix?: string;
}

export interface Check {
  readonly name: string;
  /** Exit code of the command if this is the first check that fails. */
  readonly code: ExitCode;
  readonly withinMs: number;
  run(signal: AbortSignal): Promise<readonly Finding[]>;
}

export interface Checked extends Finding {
  readonly check: string;
  readonly tookMs: number;
  readonly code: ExitCode;
}

export const ok = (said: string): Finding => ({ state: 'ok', said });
export const note = (said: string, fix: string): Finding => ({ state: 'note', said, fix });
export const fail = (said: string, fix: string): Finding => ({ state: 'fail', said, fix });

/** All checks at once; each result as soon as it and those before it are there. */
export async function* checked(checks: readonly Check[], now: () => number): AsyncGenerator<Checked> {
  const running = checks.map((check) => one(check, now));
  for (const found of running) yield* await found;
}

async function one(check: Check, now: () => number): Promise<Checked[]> {
  const began = now();
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<readonly Finding[]>((resolve) => {
    timer = setTimeout(() => {
      late.abort();
      resolve([fail(`did not answer within ${check.withinMs / 1000} s`, 'Is this machine or that server overloaded?')]);
    }, check.withinMs);
  });
  const found = await Promise.race([check.run(late.signal).catch(asFinding), tooLate]);
  clearTimeout(timer);
  return found.map((finding) => ({ check: check.name, ...finding, tookMs: now() - began, code: check.code }));
}

/** An error of ours says what to do itself. */
function asFinding(error: unknown): readonly Finding[] {
  if (!(error instanceof EverturnError)) return [fail(explain(error), 'This is unexpected: report it.')];
  const { fix = 'docs/reliability.md has the boundaries of failures.' } = error;
  const text = explain(error);
  return [fail(text.endsWith(fix) ? text.slice(0, -fix.length).trim() : text, fix)];
}

export function exitOf(found: readonly Checked[]): ExitCode {
  return found.find(({ state }) => state === 'fail')?.code ?? EXIT.ok;
}
