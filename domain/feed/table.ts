// A feed as Markdown, for the current details of its workflow in the UI.

import type { FeedProgress } from './messages.ts';
import { escapeMarkdown } from '../text/foreign-text.ts';
import { markdownTable } from '../text/markdown.ts';

const MOST_LEASES = 50;

export function feedTable(progress: FeedProgress): string {
  const { version, line, ready, playing, leases, trained, trainedInto, leftOut, total, admitted } = progress;
  const rows = leases
    .slice(0, MOST_LEASES)
    .map((lease) => [escapeMarkdown(lease.consumer), lease.groups, new Date(lease.until).toISOString()]);
  return [
    `version ${version}${line > 0 ? `, line ${line}` : ''}: ${ready} groups ready, ${playing} being played, ${trained} trained` +
      `${trainedInto === null ? '' : ` (last into version ${trainedInto})`}; ${admitted} of ${total} admitted`,
    '',
    `left out: ${Object.entries(leftOut)
      .map(([why, n]) => `${n} ${why}`)
      .join(', ')}`,
    ...(rows.length === 0
      ? []
      : [
          '',
          ...markdownTable(
            [
              { name: 'consumer', align: 'left' },
              { name: 'groups', align: 'right' },
              { name: 'until', align: 'left' },
            ],
            rows,
          ),
        ]),
  ].join('\n');
}
