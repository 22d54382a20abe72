// A collection as Markdown, for the current details of its workflow in the UI.

import { escapeMarkdown } from './foreign-text.ts';
import { type Column, markdownTable } from './markdown.ts';
import type { CollectionCounts } from './progress.ts';

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

export function collectionTable({ state, total, done, inFlight, counts }: CollectionTableInput): string {
  const outcomes = Object.entries(counts.outcomes).map(([name, n]) => `${n} ${name}`);
  const rows = counts.judgedAt.map((judged, i) => {
    const right = counts.rightAt[i] ?? 0;
    return [i + 1, judged, right, percent(right, judged), percent(counts.rightBy[i] ?? 0, total)];
  });
  const failures = counts.failures.map(
    (f) => `- ${escapeMarkdown(f.query)} / ${f.sample}: ${f.outcome}, ${escapeMarkdown(f.reason)}`,
  );
  return [
    `${state}: ${done} of ${total} rollouts, ${inFlight} in flight (${outcomes.join(', ')})`,
    '',
    ...markdownTable(COLUMNS, rows),
    ...(failures.length ? ['', '**Failures**', '', ...failures] : []),
  ].join('\n');
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`;
}
