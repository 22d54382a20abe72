// A restarted server has the weights that it was started with, and must get the current ones before any request. This
// file only recognises it, by its label, and rejects it until then; a workflow performs the update.

import { ModelError } from '../../domain/errors/errors.ts';
import type { LateServers } from '../backend.ts';

export const OLD_WEIGHTS = 'old-weights';

/** Throws if the server must get other weights first. Without a label that cannot be detected. */
export async function refuseLate(url: string, label: string | null, late: LateServers | undefined): Promise<void> {
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
