// The refusal of a flag or an option that cannot be meant.

import { UsageError } from './errors.ts';
import type { Reason } from './reasons.ts';

export function unusable(
  message: string,
  fix: string | undefined,
  reason: Reason<'usage'> = 'bad-value',
  cause?: unknown,
): UsageError {
  return new UsageError(message, { reason, cause, ...(fix !== undefined && { fix }) });
}

/** The flag of an option: `atTurn` is `--at-turn`. */
export const flagOf = (key: string): string => `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
