// A rollout as a row of a list, from the texts of its records. For display: hashes of turns are not checked here. A
// rollout with a damaged record is a row too, which names it.

import { type RolloutRow, rolloutRow } from '../../domain/rollout/rollout-row.ts';
import type { RolloutSummary } from '../../domain/rollout/rollout-summary.ts';
import type { RolloutRecord } from '../../domain/rollout/trajectory.ts';
import { titleOf } from '../../domain/query/query.ts';
import { expectedValues } from '../../domain/query/references.ts';
import type { Owner } from '../format/text.ts';
import { ROLLOUT_FILE } from '../format/rollout-file.ts';
import type { RolloutFiles } from '../store.ts';
import { summaryOf } from './summary.ts';

/** Undefined if it has not begun. */
export function rowOf(files: RolloutFiles, owner: Owner): RolloutRow | undefined {
  const { index, ...asked } = placeIn(files.text(ROLLOUT_FILE));
  let flaw: string | undefined;
  const onBroken = ({ path, problem }: { path: string; problem: string }) =>
    (flaw = `${path.slice(path.lastIndexOf('/') + 1)} ${problem}`);
  const found = summaryOf(files, owner, index, { onBroken });
  if (found) return rolloutRow(found, asked);
  if (flaw === undefined) return undefined;
  // The end still says how a rollout ended whose turn cannot be read.
  const end = summaryOf(files, owner, index, { detail: 'ends' });
  return rolloutRow(end?.outcome ? end : notEnded(owner, index), asked, flaw);
}

const TITLE_CHARS = 120;

function placeIn(first: string | undefined): Pick<RolloutRow, 'index' | 'title' | 'expected' | 'categories'> {
  try {
    const { index, query } = JSON.parse(first ?? '') as RolloutRecord;
    const expected = expectedValues(query);
    const { categories } = query;
    const title = titleOf(query, TITLE_CHARS);
    return { index, title, ...(expected.length > 0 && { expected }), ...(categories && { categories }) };
  } catch {
    // Torn, or of another form: `check` names it.
    return { index: null, title: '' };
  }
}

export const notEnded = ({ query, sample, attempt }: Owner, index: number | null): RolloutSummary => ({
  ...{ query, sample, attempt, index, outcome: null, stopReason: null, failure: null },
  ...{ success: [], returns: [], turns: [], finishedAt: null },
});
