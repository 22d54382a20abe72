// The operator's consent that model-written programs may run without a sandbox. The variable's name states the risk, and
// any value that is not clearly yes or no is rejected.

import { UsageError } from '../../domain/errors/errors.ts';

export const UNSAFE_FLAG = '--unsafe-run-code-without-sandbox';
export const UNSAFE_VARIABLE = 'EVERTURN_UNSAFE_RUN_CODE_WITHOUT_SANDBOX';

export function unsafeCodeAllowed(env: Readonly<Record<string, string | undefined>>): boolean {
  const text = env[UNSAFE_VARIABLE] ?? '';
  if (text === '1' || text === 'true') return true;
  if (text === '' || text === '0' || text === 'false') return false;
  throw new UsageError(`${UNSAFE_VARIABLE} is ${JSON.stringify(text)}.`, {
    reason: 'bad-value',
    fix: 'Set it to 1 to run model-written programs as this user without a sandbox, or leave it unset.',
  });
}
