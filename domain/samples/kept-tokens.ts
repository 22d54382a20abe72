// The sets that a row's tokens were drawn from, aligned to them. A sampled token of no known set is not trained on: its logprob is
// over fewer tokens than a trainer can say. Pure.

import { isBiased, type KeptSet, unpackedKept } from '../rollout/kept-sets.ts';
import type { RolloutSettings } from '../rollout/settings.ts';
import type { TurnRecord } from '../rollout/turn.ts';

export interface KeptFields {
  /** Where tokens were left out: the ids that the token was drawn from, ascending; null on feedback, and for more than are kept. */
  readonly kept_ids?: readonly KeptSet[];
  /** Sampled tokens of `kept_ids` null, whose mask is 0; absent: none. */
  readonly kept_missing?: number;
  /** Tokens were left out, and the server did not say which: recomputed logprobs are not the sampler's, as the run allows. */
  readonly biased_logprobs?: true;
}

export function keptFields(
  turns: readonly TurnRecord[],
  settings: RolloutSettings,
  wrong: (problem: string) => never,
): KeptFields {
  if (turns.every(({ kept }) => kept === undefined)) return isBiased(settings) ? { biased_logprobs: true } : {};
  const sets = turns.map((turn) => setsOf(turn, wrong));
  const missing = sets.flat().filter((set) => set === null).length;
  const aligned = sets.flatMap((own, i) => (i === 0 ? own : [...turns[i]!.contextIds.map(() => null), ...own]));
  return { kept_ids: aligned, ...(missing > 0 && { kept_missing: missing }) };
}

function setsOf({ turn, outputIds, kept }: TurnRecord, wrong: (problem: string) => never): readonly KeptSet[] {
  if (kept === undefined) return outputIds.map(() => null);
  const sets = unpackedKept(kept);
  return sets?.length === outputIds.length ? sets : wrong(`turn ${turn} has not one kept set per output token`);
}
