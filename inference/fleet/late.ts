// A server that comes back late has the weights that it was started with: it gets those in force before it is asked for
// anything. Here it is only recognised, by its own label, and refused until then; the update itself is a workflow.

import { ModelError } from '../../domain/errors.ts';
import type { ModelIdentity } from '../../domain/model-identity.ts';
import type { LateServers } from '../backend.ts';

export const OLD_WEIGHTS = 'old-weights';

/** Throws where the server must get other weights first. One that tells no label cannot be known to be late. */
export async function refuseLate(url: string, { canary }: ModelIdentity, late: LateServers | undefined): Promise<void> {
  const label = canary?.version ?? null;
  const wanted = (await late?.wanted(label)) ?? null;
  if (wanted === null) return;
  late!.update();
  throw new ModelError(`${url} has weights ${JSON.stringify(label)}, and the run is at ${JSON.stringify(wanted)}`, {
    reason: OLD_WEIGHTS,
    fix: 'It is given those of the run, and asked again then; `everturn status` shows what keeps it.',
    retryable: true,
    retryAfterMs: 1000,
  });
}
