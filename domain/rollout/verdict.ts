// The judge's verdict on one answer, and counts of verdicts. With a usable solution an answer is right or wrong,
// whatever it contains; only our side or the data set can cause `undecided`. Each verdict is stored with its reason.

import * as f from '../schema/fields.ts';

/**
 * `scored`: an environment gave a reward and no verdict; neither right nor wrong.
 * `called`: the reply called tools, and is no answer; the rollout goes on with their results.
 */
export const VERDICTS = ['right', 'wrong', 'undecided', 'scored', 'called'] as const;
export type VerdictValue = (typeof VERDICTS)[number];

export const VERDICT_FIELDS = {
  verdict: f.oneOf(...VERDICTS),
  /** Stable machine name of the reason: `equal`, `different`, `unreadable`, `cut-off`, … */
  reason: f.NAME,
  /** The final answer that was found in the text, if any; at most 200 characters. */
  extracted: f.maybe(f.TEXT),
  /** The number of the call, in tests of a program, after which it had failed. */
  failedCall: f.maybe(f.PLACE),
  /** True if the answer seems to address the judge instead of the problem. Never changes the verdict. */
  suspectedTamper: f.maybe(f.BOOLEAN),
};
export type Verdict = f.ObjectOf<typeof VERDICT_FIELDS>;

const REASONS = f.maybe(f.mapOf(f.COUNT));
/** Numbers of judged turns, by verdict and reason. */
export const VERDICT_COUNTS = f.objectOf({
  right: REASONS,
  wrong: REASONS,
  undecided: REASONS,
  scored: REASONS,
  called: REASONS,
});
export type VerdictCounts = f.Mutable<f.TypeOf<typeof VERDICT_COUNTS>>;
