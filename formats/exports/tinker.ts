// tinker's Datum as JSON, one rollout a line: input without the last token, targets shifted by one, and logprobs,
// advantages and mask at the target's place, all of length L - 1. The advantage is constant over a turn's answer.

import { type NeutralRow, neutralRow } from '../../domain/rollout/neutral-row.ts';
import { perToken, spread, tokensOf } from './token-lists.ts';
import type { Exporter } from './exporter.ts';

export const tinker: Exporter = {
  name: 'tinker',
  extension: 'jsonl',
  fields: ['model_input', 'loss_fn_inputs'],
  needsIds: true,
  grouped: true,
  advantages: 'mean',
  description: "tinker's Datum as JSON with finished advantages, one rollout a line",
  note: 'tinker has no place for ids, rewards, versions and groups: the advantages are finished, within the group.',
  lines(trajectory, labels) {
    const row = neutralRow(trajectory, labels);
    const ids = tokensOf(row);
    const shifted = (values: readonly number[], dtype: 'int64' | 'float32') => {
      const data = values.slice(1);
      return { data, dtype, shape: [data.length] };
    };
    return [
      JSON.stringify({
        model_input: { chunks: [{ type: 'encoded_text', tokens: ids.slice(0, -1) }] },
        loss_fn_inputs: {
          target_tokens: shifted(ids, 'int64'),
          logprobs: shifted(spread(row, row.logprobs), 'float32'),
          advantages: shifted(spread(row, perToken(row, row.turn_advantages ?? noAdvantages(row))), 'float32'),
          mask: shifted(spread(row, row.response_mask), 'float32'),
        },
      }),
    ];
  },
};

/** Without a group there is nothing to compare with. */
function noAdvantages({ turn_returns: returns }: NeutralRow): number[] {
  return returns.map(() => 0);
}
