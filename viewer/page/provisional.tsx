// The accuracy of a run that goes on. Rollouts that end early are more often right: so three numbers, and which to trust.

import type { JSX } from 'preact';
import type { RunMessage } from '../model/messages.ts';
import { count, share, shares } from './format.ts';
import { Facts } from './parts.tsx';

export function Provisional({ message }: { readonly message: RunMessage }): JSX.Element | null {
  const { provisional } = message.numbers;
  if (!provisional) return null;
  const { endedSoFar, closedPrefix, bounds } = provisional;
  const { value, interval } = closedPrefix.estimate;
  return (
    <div class="provisional">
      <Facts
        facts={[
          [
            'right at any turn, of those that have ended',
            <>
              <b>{share(endedSoFar.value)}</b> <span class="dim">provisional: early ones are more often right</span>
            </>,
          ],
          [
            `of the first ${count(closedPrefix.length)} in play order, all ended`,
            <>
              <b>{share(value)}</b> {interval && <span class="dim">95 %: {shares(interval)}</span>}
            </>,
          ],
          ...(message.head.state === 'open' && bounds
            ? [['of all, whatever the others do', <b key="bounds">{shares(bounds)}</b>] as const]
            : []),
        ]}
      />
    </div>
  );
}
