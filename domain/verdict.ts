// The judge's verdict on one answer, and verdicts counted. With a usable solution an answer is right or wrong, whatever it
// holds; `undecided` is our side's alone, or the data set's. Its reason says why, and is stored with every turn.

export const VERDICTS = ['right', 'wrong', 'undecided'] as const;
export type VerdictValue = (typeof VERDICTS)[number];

export interface Verdict {
  readonly verdict: VerdictValue;
  /** Stable machine name of why: `equal`, `different`, `unreadable`, `cut-off`, … */
  readonly reason: string;
  /** The final answer that was found in the text, if any; at most 200 characters. */
  readonly extracted?: string;
  /** True when the answer seems to have tried to reach the judge rather than the solution. Never changes the verdict. */
  readonly suspectedTamper?: boolean;
}

/** How many turns were judged so, for which reason. */
export type VerdictCounts = Partial<Record<VerdictValue, Record<string, number>>>;

export function countVerdict(counts: VerdictCounts, { verdict, reason }: Verdict, times = 1): void {
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
