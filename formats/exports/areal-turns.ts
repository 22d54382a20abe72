// AReaL's sample with one id per turn: each turn is a SequenceSample of one sequence, for a trainer with group_size 1.
// The PPO actor of AReaL asserts that every id has exactly group_size sequences, so this is the only layout in which it loads
// rollouts of different lengths.

import { completeTurns } from '../../domain/samples/complete-turns.ts';
import { sampleId } from '../../domain/samples/neutral-row.ts';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';
import { sequenceSampleOf, type SequenceSample } from './areal.ts';
import type { Exporter } from './exporter.ts';

export const arealTurns: Exporter = {
  name: 'areal',
  extension: 'jsonl',
  fields: ['ids', 'keys', 'seqlens'],
  needsIds: true,
  description: "AReaL's SequenceSample as JSON, one turn a line",
  lines: (trajectory) => turnSamples(trajectory).map((sample) => JSON.stringify(sample)),
};

/** `<query>@<sample>-t<turn>`, turns from 1; the text before the first `@` names the data set's row. */
export function turnSampleId(query: string, sample: number, turn: number): string {
  return `${sampleId(query, 0)}@${sample}-t${turn}`;
}

/** Each turn alone: its whole context is the prompt, and its reward the return G_t. */
export function turnSamples(trajectory: Trajectory): SequenceSample[] {
  const { query, sample } = trajectory.rollout;
  const checked = completeTurns(trajectory);
  return checked.turns.map((_, t) =>
    sequenceSampleOf(trajectory, checked, { id: turnSampleId(query.queryId, sample, t + 1), only: t }),
  );
}
