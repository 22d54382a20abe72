// The limits on steps: a version of the weights is one step of `batchGroups` groups, so that counting versions bounds
// staleness; and the line of the trainer. Validators of Updates ask these before an Update is accepted, and the feed
// again when its turn comes. Each answers what the rule of its verb
// answers (domain/feed/rules.ts), or one more refusal. Pure.

import { checkLine, repeatedRewind } from './fence.ts';
import type {
  AcknowledgeArguments,
  LeaseArguments,
  RenewArguments,
  RewindArguments,
  VersionArguments,
} from './messages.ts';
import { checkAcknowledge, checkRewind, checkVersion, isRefusal, leaseOfRequest, type Refusal } from './rules.ts';
import { type FeedState, isExhausted } from './state.ts';

/** While a feed reads its ledger it knows no version. */
export const OPENING: Refusal = {
  reason: 'feed-busy',
  message: 'The feed is reading its ledger.',
  fix: 'Ask again in a second.',
};

/** More than one step's groups are never there to be handed out at once. */
export function mayLease(state: FeedState, { consumer, groups, request, line }: LeaseArguments): Refusal | true {
  const stale = checkLine(state, line);
  if (stale) return stale;
  const { batchGroups } = state.shape;
  if (batchGroups === null || groups <= batchGroups) return true;
  if (request != null && leaseOfRequest(state, consumer, request)) return true;
  return {
    reason: 'bad-value',
    message: `\`groups\` of lease is ${groups}; a step of run "${state.run}" takes ${batchGroups} (--batch-groups).`,
    fix: `Lease at most ${batchGroups} groups at once.`,
  };
}

export function mayAcknowledge(state: FeedState, given: AcknowledgeArguments): ReturnType<typeof checkAcknowledge> {
  const stale = given.line == null ? undefined : checkLine(state, given.line);
  if (stale) return stale;
  const checked = checkAcknowledge(state, given);
  const next = state.version + 1;
  if (!('lease' in checked) || given.version <= next) return checked;
  return {
    reason: 'version-skips',
    message: `Version ${given.version} skips: version ${state.version} is published, and the next step makes ${next}.`,
    fix:
      state.trained >= next
        ? `Publish version ${next} with \`version\` first, or call \`rewind\` with the version of your checkpoint.`
        : `Acknowledge with version ${next}.`,
  };
}

export function mayPublish(state: FeedState, given: VersionArguments): boolean | Refusal {
  const stale = checkLine(state, given.line);
  if (stale) return stale;
  const checked = checkVersion(state, given);
  const { version } = given;
  if (checked !== false || version === state.version) return checked;
  const next = state.version + 1;
  if (version !== next) {
    return {
      reason: 'version-skips',
      message: `Version ${version} skips: version ${state.version} is published, and the next one is ${next}.`,
      fix: `Publish version ${next}, once its groups are acknowledged.`,
    };
  }
  const { batchGroups } = state.shape;
  // A run that is not paced has no limit of staleness.
  if (batchGroups === null) return false;
  const done = state.ahead.reduce((sum, taken) => sum + (taken.version === version ? taken.groups : 0), 0);
  if (done >= batchGroups || (done > 0 && isExhausted(state))) return false;
  return {
    reason: 'step-too-small',
    message: `Version ${version} has ${done} of the ${batchGroups} groups of a step (--batch-groups).`,
    fix: `Lease and acknowledge ${batchGroups - done} more with version ${version}, then publish it; only the last step of a run may be smaller.`,
  };
}

export function mayRewind(state: FeedState, given: RewindArguments): Refusal | true {
  const checked = repeatedRewind(state, given.request) ?? checkRewind(state, given);
  return checked && isRefusal(checked) ? checked : true;
}

export function mayRenew(state: FeedState, { line }: RenewArguments): Refusal | true {
  return (line == null ? undefined : checkLine(state, line)) ?? true;
}
