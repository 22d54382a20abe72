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
