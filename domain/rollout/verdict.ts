// The judge's verdict on one answer, and counts of verdicts. With a usable solution an answer is right or wrong,
// whatever it contains; only our side or the data set can cause `undecided`. Each verdict is stored with its reason.

import {
  BOOLEAN,
  COUNT,
  mapOf,
  maybe,
  type Mutable,
  NAME,
  type ObjectOf,
  objectOf,
  oneOf,
  TEXT,
  type TypeOf,
} from '../schema/fields.ts';

/**
 * `scored`: an environment gave a reward and no verdict; neither right nor wrong.
 * `called`: the reply called tools, and is no answer; the rollout goes on with their results.
 */
export const VERDICTS = ['right', 'wrong', 'undecided', 'scored', 'called'] as const;
export type VerdictValue = (typeof VERDICTS)[number];

export const VERDICT_FIELDS = {
  verdict: oneOf(...VERDICTS),
  /** Stable machine name of the reason: `equal`, `different`, `unreadable`, `cut-off`, … */
  reason: NAME,
  /** The final answer that was found in the text, if any; at most 200 characters. */
  extracted: maybe(TEXT),
  /** True if the answer seems to address the judge instead of the problem. Never changes the verdict. */
  suspectedTamper: maybe(BOOLEAN),
};
export type Verdict = ObjectOf<typeof VERDICT_FIELDS>;

const REASONS = maybe(mapOf(COUNT));
/** Numbers of judged turns, by verdict and reason. */
export const VERDICT_COUNTS = objectOf({
  right: REASONS,
  wrong: REASONS,
  undecided: REASONS,
  scored: REASONS,
  called: REASONS,
});
export type VerdictCounts = Mutable<TypeOf<typeof VERDICT_COUNTS>>;
