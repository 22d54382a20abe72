// A collection as Markdown, for the current details of its workflow in the UI.

import { escapeMarkdown, type MarkdownColumn, markdownTable } from '../text/foreign-text.ts';
import { type CollectionCounts, countInAccuracy, type RewardCount, rewardMoments } from './progress.ts';

interface CollectionTableInput {
  readonly state: string;
  readonly total: number;
  readonly done: number;
  readonly inFlight: number;
  readonly counts: CollectionCounts;
}

const COLUMNS: readonly MarkdownColumn[] = ['turn', 'judged', 'right', 'accuracy', 'right so far, of all'].map(
  (name) => ({
    name,
    align: 'right',
  }),
);

const REWARD_COLUMNS: readonly MarkdownColumn[] = ['turn', 'rewarded', 'mean', 'spread', 'least', 'most'].map(
  (name) => ({
    name,
    align: 'right',
  }),
);

/** Mean, spread, least and most: enough digits to tell them apart, few enough to read. */
export function rewardCells(at: RewardCount): string[] {
  const { mean, spread } = rewardMoments(at);
  const large = Math.max(Math.abs(at.min), Math.abs(at.max));
  const more = spread ? Math.ceil(Math.log10(large / spread)) : 0;
  const digits = Math.min(15, Math.max(4, more + 3));
  const text = (value: number | null, precision: number): string =>
    value === null ? '–' : String(Number(value.toPrecision(precision)));
  return [text(mean, digits), text(spread, 4), text(at.min, digits), text(at.max, digits)];
}

export function collectionTable({ state, total, done, inFlight, counts }: CollectionTableInput): string {
  const outcomes = Object.entries(counts.outcomes).map(([name, n]) => `${n} ${name}`);
  const rows = counts.judgedAt.map((judged, i) => {
    const right = counts.rightAt[i] ?? 0;
    return [
      i + 1,
      judged,
      right,
      percent(right, judged),
      percent(counts.rightBy[i] ?? 0, countInAccuracy(total, counts)),
    ];
  });
  const rewards = (counts.rewardAt ?? []).map((at, i) => [i + 1, at.count, ...rewardCells(at)]);
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
