// A rollout as Markdown, for the current details of its workflow in the UI.

import { escapeMarkdown } from '../text/foreign-text.ts';
import { type MarkdownColumn, markdownTable } from '../text/markdown.ts';
import type { TurnFacts } from './turn-facts.ts';

export interface TurnTableInput {
  readonly title: string;
  readonly phase: string;
  readonly turns: readonly TurnFacts[];
  readonly numTurns: number;
}

const COLUMNS: readonly MarkdownColumn[] = [
  { name: 'turn', align: 'right' },
  { name: 'verdict', align: 'left' },
  { name: 'tokens', align: 'right' },
  { name: 'context', align: 'right' },
  { name: 'finish', align: 'left' },
  { name: 'version', align: 'right' },
  { name: 'reason', align: 'left' },
];

/** Shown where an environment gives rewards of its own. */
const REWARD: MarkdownColumn = { name: 'reward', align: 'right' };

export function turnTable({ title, phase, turns, numTurns }: TurnTableInput): string {
  const rewarded = turns.some(({ reward }) => reward !== undefined);
  const columns = rewarded ? [...COLUMNS, REWARD] : COLUMNS;
  const rows = turns.map((t) => {
    const version = t.versionStart === t.versionEnd ? `${t.versionStart}` : `${t.versionStart}–${t.versionEnd}`;
    return [
      t.turn,
      t.verdict,
      t.outputTokens ?? '–',
      t.contextTokens ?? '–',
      t.finish,
      version,
      escapeMarkdown(t.reason),
      ...(rewarded ? [t.reward ?? '–'] : []),
    ];
  });
  return [
    `**${escapeMarkdown(title)}**`,
    '',
    `${phase} (${turns.filter(({ verdict }) => verdict !== 'called').length} of ${numTurns} turns)`,
    '',
    ...markdownTable(columns, rows),
  ].join('\n');
}
