// The accuracy of a run that goes on. Rollouts that end early are more often right: so three numbers, and which to trust.
// The first is that of the head, by turn and of `everturn watch`: of all that have ended, and failed ones are not right.

import type { JSX } from 'preact';
import type { RunMessage } from '../model/messages.ts';
import { count, plural, share, shares } from './format.ts';
import { Facts } from './parts.tsx';

export function Provisional({ message: { head, summary } }: { readonly message: RunMessage }): JSX.Element | null {
  if (!summary.provisional) return null;
  const { closedPrefix, bounds } = summary.provisional;
  const { value, interval, leftOut } = closedPrefix.estimate;
  const rightBy = summary.turns.at(-1)?.rightBy;
  return (
    <div class="notice">
      <Facts
        facts={[
          [
            `right at any turn, of the ${count(rightBy?.n ?? 0)} that have ended`,
            <>
              <b>{share(rightBy?.value ?? null)}</b>{' '}
              <span class="dim">provisional: early ones are more often right</span>
            </>,
          ],
          [
            `of the first ${count(closedPrefix.length)} in play order, all ended`,
            <>
              <b>{share(value)}</b>{' '}
              <span class="dim">
                {interval && `95 %: ${shares(interval)}`}
                {leftOut > 0 && `, without ${plural(leftOut, 'rollout')} that failed or could not be judged`}
              </span>
            </>,
          ],
          head.state === 'open' &&
            bounds && [`of all ${count(summary.provisional.of)}, whatever the others do`, <b>{shares(bounds)}</b>],
        ]}
      />
    </div>
  );
}
