// Compares every server of a fleet with the first one, when it joins and when it comes back: its identity, and its canary
// with that of the same version of the weights.

import { setTimeout as sleep } from 'node:timers/promises';
import { ModelError } from '../../domain/errors/errors.ts';
import {
  CANARY_TOLERANCE,
  canaryDistance,
  differingCanaries,
  differingTraits,
  type ModelIdentity,
  type Named,
} from '../../domain/weights/model-identity.ts';
import type { Kind } from '../backend.ts';
import type { ServerBackend } from './server-backend.ts';

/** Compares an identity with the run's: throws for another model, returns the difference of a canary, or null. */
export type ModelJudge = (url: string, identity: ModelIdentity) => string | null | Promise<string | null>;

/** Number of versions whose canaries are stored, beside the first. */
const VERSIONS_KEPT = 64;
/** During an update, new weights may briefly have the old label. */
const LOOKS_AFTER_MS = [200, 1000];

/** Takes the first server that it compares as the model of the run. */
export function openModelJudge(): ModelJudge {
  let first: Named | null = null;
  const canaries = new Map<string | null, Named>();
  return (url, identity: ModelIdentity) => {
    const met = { who: url, identity };
    first ??= met;
    const traits = differingTraits(first, met);
    if (traits !== null) throw otherModel(url, traits);
    if (!identity.canary) return null;
    const { version } = identity.canary;
    const known = canaries.get(version);
    if (known) return differingCanaries(known, met);
    canaries.set(version, met);
    if (canaries.size > VERSIONS_KEPT) canaries.delete([...canaries.keys()][1]!);
    return null;
  };
}

/** Throws if the server, as it was met, has another model than the run. */
export async function mustBeRunsModel({ url, facts, identify }: ServerBackend<Kind>, judge: ModelJudge): Promise<void> {
  let { identity } = facts;
  if (!identity) return;
  let differs = await judge(url, identity);
  for (const pause of LOOKS_AFTER_MS) {
    if (differs === null || !identify) break;
    await sleep(pause);
    const again = await identify();
    if (unlikeItself(identity, again)) return;
    identity = again;
    differs = await judge(url, identity);
  }
  if (differs !== null) throw otherModel(url, differs);
}

/** A server whose canary varies cannot be compared with others. */
function unlikeItself({ canary: a }: ModelIdentity, { canary: b }: ModelIdentity): boolean {
  return a !== null && b !== null && a.version === b.version && (canaryDistance(a, b) ?? 0) > CANARY_TOLERANCE;
}

export const OTHER_MODEL = 'other-model';

function otherModel(url: string, differs: string): ModelError {
  return new ModelError(`${url} is another model than this run's: ${differs}`, {
    reason: OTHER_MODEL,
    fix: 'Start the same model there, or leave that server out; weights that change need another version’s word.',
  });
}
