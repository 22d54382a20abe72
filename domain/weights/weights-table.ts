// An update of weights as a table, for Temporal's UI. Pure.

import { escapeMarkdown } from '../text/foreign-text.ts';
import type { WeightsProgress } from './weights.ts';

export function weightsTable({ label, weights, state, servers, steps }: WeightsProgress): string {
  const head = `**${escapeMarkdown(label ?? '…')}** · ${state} · ${escapeMarkdown(weights)}`;
  const urls = Object.keys(steps);
  if (urls.length === 0) return head;
  const rows = urls.map((url) => {
    const done = servers.find((server) => server.url === url);
    const cells = [url, done?.state ?? steps[url]!, done?.before ?? '', done?.now ?? '', done?.error ?? ''];
    return `| ${cells.map((cell) => escapeMarkdown(cell.slice(0, 300))).join(' | ')} |`;
  });
  return [head, '', '| server | state | before | now | |', '|---|---|---|---|---|', ...rows].join('\n');
}
