// The rules of a feed's verbs: what each finds in the state, or why it is refused; a refusal changes nothing. A version of
// the weights is one step of `batchGroups` groups, so that counting versions bounds staleness; `line` is a fencing token.
// Validators of Updates ask these before an Update is accepted, and the feed again when its turn comes. Pure.

import type { Reason } from '../errors/reasons.ts';
import { numberSet, countNumbers } from './number-set.ts';
import type { RewindRequest } from './line.ts';
import { type ArgumentsOf, DEFAULT_LEASE_SECONDS, type LeaseArguments } from './messages.ts';
import {
  type Acknowledged,
  addLease,
  available,
  endLeases,
  type FeedState,
  isExhausted,
  type Lease,
  nothingToCome,
  trainsNext,
} from './state.ts';

export interface FeedRefusal {
  readonly reason: Reason<'usage'>;
  readonly message: string;
  readonly fix: string;
}

export const isFeedRefusal = (value: object): value is FeedRefusal => 'reason' in value && 'fix' in value;

/** While a feed reads its ledger it knows no version. */
export const OPENING: FeedRefusal = {
  reason: 'feed-busy',
  message: 'The feed is reading its ledger.',
  fix: 'Ask again in a second.',
};

/** A trainer that another one replaced is refused. `line`: what the caller sent; one that never called `rewind` is on line 0. */
export function checkLine(state: FeedState, line: number | null | undefined): FeedRefusal | undefined {
  if ((line ?? 0) === state.line) return undefined;
  const newest = `line ${state.line} of run "${state.run}"`;
  const isOver = line != null && line < state.line;
  const message =
    line == null
      ? `\`line\` is missing: a trainer began ${newest} with \`rewind\`.`
      : isOver
        ? `Line ${line} has ended: a later \`rewind\` began ${newest}.`
        : `Line ${line} has not begun: ${newest} is the newest.`;
  const fix = 'Call `rewind` with the version of your checkpoint, and send the `line` that it answers with every verb.';
  const another = 'If another trainer lives, end this one: its step counts no more. Else: ';
  return { reason: 'stale-line', message, fix: isOver ? another + fix : fix };
}

export function checkLease(state: FeedState, given: LeaseArguments): FeedRefusal | undefined {
  const { batchGroups } = state.shape;
  const stale = checkLine(state, given.line);
  if (stale || batchGroups === null || given.groups <= batchGroups || leaseOfRequest(state, given)) return stale;
  // More than one step's groups are never there to be handed out at once.
  return {
    reason: 'bad-value',
    message: `\`groups\` of lease is ${given.groups}; a step of run "${state.run}" takes ${batchGroups} (--batch-groups).`,
    fix: `Lease at most ${batchGroups} groups at once.`,
  };
}

function leaseOfRequest({ leases }: FeedState, { consumer, request }: LeaseArguments): Lease | undefined {
  return request == null ? undefined : leases.find((lease) => lease.request === request && lease.consumer === consumer);
}

const isOverdue = ({ until }: Lease, now: number) => until <= now;

/** True if `takeLease` has something to do. */
export function canLease(state: FeedState, given: LeaseArguments, now: number): boolean {
  if (leaseOfRequest(state, given) || isExhausted(state)) return true;
  return state.leases.some((lease) => isOverdue(lease, now)) || groupsFor(state, given) !== undefined;
}

/** The groups of a new lease; undefined while there are too few. */
function groupsFor(state: FeedState, { groups, least }: LeaseArguments): number[] | undefined {
  const { batchGroups } = state.shape;
  // Near the end it may be smaller than asked for; groups that others hold may be offered again, and make a whole step.
  const isRest = nothingToCome(state) && (batchGroups === null || state.leases.length === 0);
  const needed = isRest ? 1 : (least ?? groups);
  if (countNumbers(state.ready) < needed) return undefined;
  const chosen = available(state, groups);
  return chosen.length >= needed ? chosen : undefined;
}

/** Overdue leases end where their groups are needed. A lease whose request is sent again lasts from then on. */
export function takeLease(state: FeedState, given: LeaseArguments, id: string, now: number): Lease | undefined {
  const until = now + (given.seconds ?? DEFAULT_LEASE_SECONDS) * 1000;
  const standingLease = leaseOfRequest(state, given);
  if (standingLease) return Object.assign(standingLease, { until });
  let chosen = groupsFor(state, given);
  if (!chosen) {
    endLeases(state, (lease) => isOverdue(lease, now));
    chosen = groupsFor(state, given);
  }
  if (!chosen) return undefined;
  const { consumer, request = null } = given;
  const { version, line } = state;
  const lease = {
    id,
    consumer,
    request,
    groups: numberSet(chosen),
    version,
    trainedAt: trainsNext(state),
    line,
    until,
  };
  addLease(state, lease);
  return lease;
}

/** The lease that is to be acknowledged, or the same acknowledgement from before. */
export function checkAcknowledge(
  state: FeedState,
  { lease: id, version, line }: ArgumentsOf<'acknowledge'>,
): { readonly lease: Lease } | { readonly before: Acknowledged } | FeedRefusal {
  const stale = line == null ? undefined : checkLine(state, line);
  if (stale) return stale;
  const before = state.acknowledged.find((one) => one.lease === id);
  if (before?.version === version) return { before };
  if (before) {
    return {
      reason: 'version-goes-back',
      message: `Lease ${id} was acknowledged with version ${before.version} already.`,
      fix: `Acknowledge it with ${before.version}, or not again.`,
    };
  }
  const lease = state.leases.find((one) => one.id === id);
  if (!lease) return noLease(state, id);
  return mustBeNext(state, version) ?? { lease };
}

function mustBeNext({ version: published, trained }: FeedState, version: number): FeedRefusal | undefined {
  const next = published + 1;
  if (version === next) return undefined;
  const now = `version ${published} is published, and the next step makes ${next}`;
  const back = 'to go back to a checkpoint, call `rewind`';
  if (version < next) {
    const message = `Version ${version} goes back: ${now}.`;
    return { reason: 'version-goes-back', message, fix: `Give ${next}; ${back}.` };
  }
  const message = `Version ${version} skips: ${now}.`;
  const first = trained >= next ? 'publish' : 'acknowledge its groups and publish';
  return { reason: 'version-skips', message, fix: `First ${first} version ${next}; ${back}.` };
}

function noLease({ run }: FeedState, id: string): FeedRefusal {
  const named = `Lease ${JSON.stringify(id.slice(0, 80))}`;
  if (id.startsWith(`${run}~`)) {
    return {
      reason: 'no-such-lease',
      message: `${named} does not exist, or has ended: its groups were given to others, or the feed was rewound.`,
      fix: 'Discard the step that used it, go back to the last checkpoint, and call `rewind` with its version.',
    };
  }
  const fix = 'Send it to the feed of the run that gave it.';
  return { reason: 'no-such-lease', message: `${named} is not of run "${run}".`, fix };
}

/** True if there is nothing to do. */
export function checkVersion(
  state: FeedState,
  { version, weights, adapter, line }: ArgumentsOf<'version'>,
): boolean | FeedRefusal {
  const stale = checkLine(state, line);
  if (stale) return stale;
  const folder = weights ?? adapter;
  if (version === state.version) return folder == null || folder === state.weights;
  const wrong = mustBeNext(state, version);
  if (wrong) return wrong;
  const { batchGroups } = state.shape;
  const { ahead } = state;
  // A run that is not paced has no limit of staleness.
  if (batchGroups === null || ahead >= batchGroups || (ahead > 0 && isExhausted(state))) return false;
  return {
    reason: 'step-too-small',
    message: `Version ${version} has ${ahead} of the ${batchGroups} groups of a step (--batch-groups).`,
    fix: `Lease and acknowledge ${batchGroups - ahead} more with version ${version}, then publish it; only the last step of a run may be smaller.`,
  };
}

/** The same rewind from before; undefined for one that is new. */
export function checkRewind(
  state: FeedState,
  { version, request }: ArgumentsOf<'rewind'>,
): RewindRequest | FeedRefusal | undefined {
  const earlierRewind = state.rewinds.find((made) => made.request === request);
  if (earlierRewind) return checkLine(state, earlierRewind.line) ?? earlierRewind;
  const most = Math.max(state.version, state.trained);
  if (version <= most) return undefined;
  return {
    reason: 'version-goes-back',
    message: `There is no version ${version} to rewind to: the trainer is at version ${most}.`,
    fix: `Rewind to a version from 0 to ${most}.`,
  };
}
