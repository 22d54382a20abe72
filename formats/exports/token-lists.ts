// Lists over all tokens of a neutral row, the prompt included.

import type { NeutralRow } from '../../domain/rollout/neutral-row.ts';

type Row = Pick<NeutralRow, 'prompt_ids' | 'response_ids' | 'turn_ids'>;

export function tokensOf({ prompt_ids: prompt, response_ids: response }: Row): number[] {
  return prompt.concat(response);
}

/** One value per response token as one per token: 0 on the prompt. */
export function spread({ prompt_ids: prompt }: Row, values: readonly number[]): number[] {
  return prompt.map(() => 0).concat(values);
}

/** Each turn's value on every token of its answer, 0 elsewhere. */
export function perToken({ turn_ids: turns }: Row, values: readonly number[]): number[] {
  return turns.map((turn) => (turn < 0 ? 0 : values[turn]!));
}
