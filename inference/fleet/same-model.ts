// Compares every server of a fleet with the first one: its identity, and, for each version of the weights, its canary.

import {
  differingCanaries,
  differingTraits,
  type ModelIdentity,
  type Named,
} from '../../domain/weights/model-identity.ts';
import { otherModel, type Judge } from './acquaintance.ts';

/** Number of versions whose canaries are stored, beside the first. */
const VERSIONS_KEPT = 64;

/** Takes the first server that it compares as the model of the run. */
export function sameModel(): Judge {
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
