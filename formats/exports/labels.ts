// Exact tokens for supervised fine-tuning: input_ids, attention_mask and labels, one right rollout a line, up to its
// first right answer. A label is the token's id on that answer and on the calls of tools that led to it, and -100 on all
// else, results of tools included: nothing is tokenised again.

import { completeTurns } from '../../domain/samples/complete-turns.ts';
import { trainedTokens } from '../../domain/rollout/credit.ts';
import type { Exporter } from '../../domain/samples/exporter.ts';
import { withoutRight } from './chat.ts';

const NOT_TRAINED = -100;

export const labels: Exporter = {
  name: 'labels',
  extension: 'jsonl',
  fields: ['input_ids', 'attention_mask', 'labels'],
  needsIds: true,
  description: 'input_ids, attention_mask and labels of right rollouts (TRL, axolotl)',
  note: 'labels holds right rollouts up to their first right answer, and trains on that answer, and the calls that led to it, alone.',
  leavesOut: withoutRight,
  lines(trajectory) {
    const { turns, refuse } = completeTurns(trajectory);
    const right = trajectory.turns.findIndex(({ verdict }) => verdict?.verdict === 'right');
    let first = right;
    while (trajectory.turns[first - 1]?.verdict?.verdict === 'called') first--;
    const ids: number[] = [];
    const trained: number[] = [];
    const add = (id: number, label: number) => {
      ids.push(id);
      trained.push(label);
    };
    for (const [i, turn] of turns.slice(0, right + 1).entries()) {
      for (const id of turn.contextIds) add(id, NOT_TRAINED);
      const isTrained = trainedTokens(turn, trajectory.turns[i]!.verdict, refuse);
      for (const [k, id] of turn.outputIds.entries()) add(id, i < first || isTrained[k] === 0 ? NOT_TRAINED : id);
    }
    // No other column: axolotl takes a data set for tokenised only with exactly these.
    return [
      JSON.stringify({
        input_ids: ids,
        attention_mask: ids.map(() => 1),
        labels: trained,
      }),
    ];
  },
};
