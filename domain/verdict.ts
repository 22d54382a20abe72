// The judge's word on one answer. Three values: a judge that could not decide never says "wrong".

export type VerdictValue = 'right' | 'wrong' | 'undecided';

export interface Verdict {
  readonly verdict: VerdictValue;
  /** Stable machine name of why: `equal`, `different`, `no-answer`, `timeout`, … */
  readonly reason: string;
  /** The final answer that was found in the text, if any; at most 200 characters. */
  readonly extracted?: string;
  /** True when the answer seems to have tried to reach the judge rather than the solution. Never changes the verdict. */
  readonly suspectedTamper?: boolean;
}
