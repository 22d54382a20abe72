// Calls of the functions that a program gave: their time limit, and their failures as a process would report them.

import { EnvironmentError } from '../../domain/errors/errors.ts';
import { orAborted } from '../../local/machine/aborted-wait.ts';

/**
 * Rejects when the time is over or the signal aborts, whether or not the function heeds its own signal: in one process it
 * cannot be ended from outside.
 */
export async function withinSeconds<T>(
  seconds: number,
  signal: AbortSignal,
  call: (limited: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const limited = AbortSignal.any([signal, limit.signal]);
  const timer = setTimeout(() => limit.abort(lateBy(seconds)), seconds * 1000);
  try {
    return await orAborted(limited, call(limited));
  } finally {
    clearTimeout(timer);
  }
}

const lateBy = (seconds: number): EnvironmentError =>
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
