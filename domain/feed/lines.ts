// A feed in sentences: for `status`, and for the details of its workflow in Temporal's UI.

import type { FeedProgress } from './messages.ts';

export type FeedHead = Pick<FeedProgress, 'version' | 'line' | 'trained' | 'trainedInto'>;
/** Known to the workflow alone. */
export type OpenGroups = Pick<
  FeedProgress,
  'ready' | 'playing' | 'leases' | 'leftOut' | 'admitted' | 'total' | 'concluded'
>;

const MOST_LEASES = 20;
const plural = (n: number, noun: string) => `${n.toLocaleString('en-US')} ${noun}${n === 1 ? '' : 's'}`;

/** The head, then a line for each lease. `open`: null where only the ledger is known. `till`: the end of a lease, in words. */
export function feedLines(head: FeedHead, open: OpenGroups | null, till: (until: number) => string): string[] {
  const { version, line, trained, trainedInto } = head;
  const into = trainedInto === null ? '' : `, the last into version ${trainedInto}`;
  // Each start of a trainer rewinds.
  const begun = line === 0 ? '' : ` of line ${line} (each start of a trainer begins one)`;
  const first = `Feed: version ${version}${begun}; ${plural(trained, 'group')} trained${into}`;
  if (!open) return [`${first}. Its workflow does not answer: that is what its ledger says.`];
  const { ready, playing, leases, leftOut, admitted, total } = open;
  const left = Object.entries(leftOut).filter(([, n]) => n > 0);
  return [
    `${first}; ${ready} ready, ${playing} being played; ${admitted} of ${total} admitted`,
    ...waitLines(head, open),
    ...leases
      .slice(0, MOST_LEASES)
      .map(
        ({ consumer, groups, until, lease }) =>
          `  leased: ${plural(groups, 'group')} by ${consumer}, ${till(until)} (${lease})`,
      ),
    ...(left.length > 0 ? [`  left out: ${left.map(([why, n]) => `${n} by ${why}`).join(', ')}`] : []),
  ];
}

/** A run of which every rollout has ended has ended itself, and its feed goes on: nothing is left to cancel. */
function waitLines({ trained }: FeedHead, { ready, playing, leases, leftOut, total, concluded }: OpenGroups): string[] {
  if (playing > 0) return [];
  const sum = (numbers: readonly number[]) => numbers.reduce((all, n) => all + n, 0);
  const toTrain = ready + sum(leases.map(({ groups }) => groups));
  if (!concluded && trained + toTrain + sum(Object.values(leftOut)) < total)
    return ['  waits for its trainer; it ends when all groups are trained or left out, or by `everturn cancel`'];
  return toTrain > 0 ? [`  every rollout has ended; ${plural(toTrain, 'group')} left for the trainer`] : [];
}
