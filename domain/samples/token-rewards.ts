// The rewards of a rollout by token: a span's at its last token, the rest of a turn's at the last token of its answer. Trainers
// drop a reward at a token that is not trained: it moves to the trained one before it in its turn, else to the next one of its
// turn, so that a turn keeps its rewards; of a turn without any, to the trained one before the turn, if there is one. Pure.

import { placedRewards } from '../rollout/credit.ts';
import type { PlayedTurn } from '../rollout/trajectory.ts';

interface Layout {
  /** The end of each turn's answer. */
  readonly ends: readonly number[];
  /** r_t. */
  readonly turnRewards: readonly number[];
  /** One per token, 1 if it is trained. */
  readonly mask: readonly (0 | 1)[];
}

export function tokenRewards(
  turns: readonly PlayedTurn[],
  { ends, turnRewards, mask }: Layout,
  wrong: (problem: string) => never,
): number[] {
  let last = -1;
  const lastTrained = mask.map((one, i) => (one === 1 ? (last = i) : last));
  const rewards = mask.map(() => 0);
  for (const [i, { record, verdict }] of turns.entries())
    for (const [k, reward] of placedRewards(record, verdict, turnRewards[i]!, wrong)) {
      // The reward of an answer without a token is of the token before it, or of the first.
      const begin = Math.max(0, ends[i]! - record.outputIds.length);
      const at = Math.max(0, begin + k);
      const before = lastTrained[at];
      const behind = before === undefined || before >= begin ? -1 : mask.indexOf(1, at);
      const place = behind >= 0 && behind < ends[i]! ? behind : before === -1 ? at : before;
      if (place !== undefined) rewards[place] = rewards[place]! + reward;
    }
  return rewards;
}
