// The refusal of a user's environment whose code is not the one that the run was made with.

import { EnvironmentError } from '../domain/errors/errors.ts';
import type { EnvironmentRecord } from '../domain/rollout/environment.ts';

export function mismatch(record: EnvironmentRecord, title: string, found: string): EnvironmentError {
  return new EnvironmentError(
    `The run has the environment ${record.name} ${record.version} (${record.fingerprint.slice(0, 12)}), ` +
      `and this worker found ${title} (${found.slice(0, 12)}).`,
    {
      reason: 'environment-mismatch',
      fix: 'Bring the code back as it was when the run was made, or begin a run with the new one.',
    },
  );
}
