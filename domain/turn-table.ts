// A rollout as Markdown, for the current details of its workflow in the UI.

import type { TurnFacts } from './turn.ts';

export interface TurnTableInput {
  readonly title: string;
  readonly phase: string;
  readonly turns: readonly TurnFacts[];
  readonly numTurns: number;
}

export function turnTable({ title, phase, turns, numTurns }: TurnTableInput): string {
  const rows = turns.map((t) => {
    const version = t.versionStart === t.versionEnd ? `${t.versionStart}` : `${t.versionStart}–${t.versionEnd}`;
    return `| ${t.turn} | ${t.verdict} | ${t.outputTokens} | ${t.contextTokens} | ${t.finish} | ${version} | ${escapeMarkdown(t.reason)} |`;
  });
  return [
    `**${escapeMarkdown(title)}**`,
    '',
    `${phase} (${turns.length} of ${numTurns} turns)`,
    '',
    '| turn | verdict | tokens | context | finish | version | reason |',
    '|---:|---|---:|---:|---|---:|---|',
    ...rows,
  ].join('\n');
}

/** Model and data set text must not become markup: one line, every mark of Markdown and HTML escaped. */
export function escapeMarkdown(text: string): string {
  return text
    .replace(/[\r\n\u2028\u2029]+/g, ' ')
    .replace(/[\\`*_{}[\]()#+\-!|<>~&]/g, (c) =>
      c === '<' ? '&lt;' : c === '>' ? '&gt;' : c === '&' ? '&amp;' : `\\${c}`,
    );
}
