// Calls of the functions that a program gave: one that is late, and their failures as a process would report them.

import { EnvironmentError } from '../../domain/errors/errors.ts';

export const lateBy = (seconds: number): EnvironmentError =>
  new EnvironmentError(`The function gave nothing in ${seconds} s.`, { reason: 'environment-timeout' });

/** The message and the stack, and `retryable` where the error says so. */
export function failureOf(error: unknown): {
  readonly message: string;
  readonly trace?: string;
  readonly retryable: boolean;
} {
  const { retryable } = Object(error) as { readonly retryable?: unknown };
  const stack = error instanceof Error ? error.stack : undefined;
  const message = error instanceof Error ? error.message : String(error);
  return { message, retryable: retryable === true, ...(stack !== undefined && { trace: stack }) };
}
