// Whether an answer is one that chance does not repeat: another context gives other logprobs, to the last bit. Short
// answers and confident ones (logprobs of 0) are repeated honestly, so they tell nothing.

const TELLING_TOKENS = 12;
/** Each of these has ten bits or more, also in bfloat16. */
const TELLING_VALUES = 6;
/** Above this, a logprob is one of the few values that a confident model gives. */
const SURE = -1e-3;

export function isUnrepeatable(logprobs: readonly number[]): boolean {
  if (logprobs.length < TELLING_TOKENS) return false;
  const values = new Set<number>();
  for (const logprob of logprobs) if (logprob < SURE && values.add(logprob).size >= TELLING_VALUES) return true;
  return false;
}
