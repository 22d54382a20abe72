// The judge's verdict on one answer, and counts of verdicts. With a usable solution an answer is right or wrong,
// whatever it contains; only our side or the data set can cause `undecided`. Each verdict is stored with its reason.

/**
 * `scored`: an environment gave a reward and no verdict; neither right nor wrong.
 * `called`: the reply called tools, and is no answer; the rollout goes on with their results.
 */
export const VERDICTS = ['right', 'wrong', 'undecided', 'scored', 'called'] as const;
export type VerdictValue = (typeof VERDICTS)[number];

export interface Verdict {
  readonly verdict: VerdictValue;
  /** Stable machine name of the reason: `equal`, `different`, `unreadable`, `cut-off`, … */
  readonly reason: string;
  /** The final answer that was found in the text, if any; at most 200 characters. */
  readonly extracted?: string;
  /** True if the answer seems to address the judge instead of the problem. Never changes the verdict. */
  readonly suspectedTamper?: boolean;
}

/** Numbers of judged turns, by verdict and reason. */
export type VerdictCounts = Partial<Record<VerdictValue, Record<string, number>>>;

function countVerdict(counts: VerdictCounts, { verdict, reason }: Verdict, times = 1): void {
  const reasons = (counts[verdict] ??= {});
  reasons[reason] = (Object.hasOwn(reasons, reason) ? reasons[reason]! : 0) + times;
}

export function addVerdicts(counts: VerdictCounts, more: VerdictCounts): void {
  for (const verdict of VERDICTS)
    for (const [reason, times] of Object.entries(more[verdict] ?? {})) countVerdict(counts, { verdict, reason }, times);
}

export function countedVerdicts(verdicts: Iterable<Verdict>): VerdictCounts {
  const counts: VerdictCounts = {};
  for (const verdict of verdicts) countVerdict(counts, verdict);
  return counts;
}
