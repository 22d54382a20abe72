// Exact tokens for supervised fine-tuning: input_ids, attention_mask and labels, one right rollout a line, up to its
// first right answer. A label is the token's id on that answer and -100 before it: nothing is tokenised again.

import { completeTurns } from '../domain/complete-turns.ts';
import type { Exporter } from './exporter.ts';
import { withoutRight } from './chat.ts';

const NOT_TRAINED = -100;

export const labels: Exporter = {
  name: 'labels',
  extension: 'jsonl',
  forTraining: true,
  description: 'input_ids, attention_mask and labels of right rollouts (TRL, axolotl)',
  note: 'labels holds right rollouts up to their first right answer, and trains on that answer alone.',
  leavesOut: withoutRight,
  lines(trajectory) {
    const { turns } = completeTurns(trajectory);
    const right = trajectory.turns.findIndex(({ verdict }) => verdict?.verdict === 'right');
    const ids: number[] = [];
    for (const { contextIds, outputIds } of turns.slice(0, right + 1))
      for (const list of [contextIds, outputIds]) for (const id of list) ids.push(id);
    const from = ids.length - turns[right]!.outputIds.length;
    // No other column: axolotl takes a data set for tokenised only with exactly these.
    return [
      JSON.stringify({
        input_ids: ids,
        attention_mask: ids.map(() => 1),
        labels: ids.map((id, i) => (i < from ? NOT_TRAINED : id)),
      }),
    ];
  },
};
