// An ended rollout as the texts of its records, and as a row of a list, from its line.

import { type RolloutRow, rolloutRow } from '../../domain/rollout/rollout-row.ts';
import { ROLLOUT_FILE } from '../format/rollout-file.ts';
import { notEnded, rowOf } from '../reading/row.ts';
import type { RolloutFiles } from '../store.ts';
import type { EndedRollout } from './line.ts';

export const filesOf = ({ records }: EndedRollout): RolloutFiles => ({
  text: (file) => records.get(file)?.text,
  names: () => [...records.keys()],
});

export const endedRow = (rollout: EndedRollout): RolloutRow => {
  const first = rollout.records.get(ROLLOUT_FILE)?.open() ?? { problem: 'is missing' };
  const row = 'problem' in first ? undefined : rowOf(filesOf(rollout), rollout.of);
  if (row) return row;
  const problem = 'problem' in first ? first.problem : 'is missing';
  return rolloutRow(notEnded(rollout.of, null), { title: '' }, `${ROLLOUT_FILE} ${problem}`);
};
