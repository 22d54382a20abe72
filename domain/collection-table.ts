// A collection as Markdown, for the current details of its workflow in the UI.

import { escapeMarkdown } from './foreign-text.ts';
import { type Column, markdownTable } from './markdown.ts';
import { type CollectionCounts, counting, rewardMoments } from './progress.ts';

export interface CollectionTableInput {
  readonly state: string;
  readonly total: number;
  readonly done: number;
  readonly inFlight: number;
  readonly counts: CollectionCounts;
}

const COLUMNS: readonly Column[] = ['turn', 'judged', 'right', 'accuracy', 'right so far, of all'].map((name) => ({
  name,
  align: 'right',
}));

const REWARD_COLUMNS: readonly Column[] = ['turn', 'rewarded', 'mean', 'spread', 'least', 'most'].map((name) => ({
  name,
  align: 'right',
}));

/** Enough digits to compare by, few enough to read. */
const digits = (value: number): string => String(Number(value.toPrecision(4)));

export function collectionTable({ state, total, done, inFlight, counts }: CollectionTableInput): string {
  const outcomes = Object.entries(counts.outcomes).map(([name, n]) => `${n} ${name}`);
  const rows = counts.judgedAt.map((judged, i) => {
    const right = counts.rightAt[i] ?? 0;
    return [i + 1, judged, right, percent(right, judged), percent(counts.rightBy[i] ?? 0, counting(total, counts))];
  });
  const rewards = (counts.rewardAt ?? []).map((at, i) => {
    const { mean, spread } = rewardMoments(at);
    return [i + 1, at.count, digits(mean), digits(spread), digits(at.min), digits(at.max)];
  });
  const failures = counts.failures.map(
    (f) => `- ${escapeMarkdown(f.query)} / ${f.sample}: ${f.outcome}, ${escapeMarkdown(f.reason)}`,
  );
  return [
    `${state}: ${done} of ${total} rollouts, ${inFlight} in flight (${outcomes.join(', ')})`,
    '',
    ...(rows.length > 0 || rewards.length === 0 ? markdownTable(COLUMNS, rows) : []),
    ...(rewards.length > 0 ? ['', ...markdownTable(REWARD_COLUMNS, rewards)] : []),
    ...(failures.length ? ['', '**Failures**', '', ...failures] : []),
  ].join('\n');
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`;
}
