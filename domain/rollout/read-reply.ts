// A reply of an environment as it is recorded: its verdict and its other fields; and recorded verdicts in numbers. Pure.

import type { EnvironmentReply, ReplyFields } from './environment.ts';
import type { Verdict, VerdictCounts } from './verdict.ts';

/** The verdict that is recorded: `scored` where a reply has a reward and no verdict. */
export function verdictOf({ verdict, reward }: EnvironmentReply): Verdict {
  return verdict ?? { verdict: 'scored', reason: reward === undefined ? 'no-reward' : 'reward' };
}

export function replyFields({ verdict, ...fields }: EnvironmentReply): ReplyFields {
  // Neither right nor wrong and without a reward of its own: it counts 0.
  return verdict === undefined && fields.reward === undefined ? { reward: 0, ...fields } : fields;
}

export function countVerdict(counts: VerdictCounts, { verdict, reason }: Verdict, times = 1): void {
  const reasons = (counts[verdict] ??= {});
  reasons[reason] = (Object.hasOwn(reasons, reason) ? reasons[reason]! : 0) + times;
}

export function countedVerdicts(verdicts: Iterable<Verdict>): VerdictCounts {
  const counts: VerdictCounts = {};
  for (const verdict of verdicts) countVerdict(counts, verdict);
  return counts;
}
