// Words that head a column or stand before a value, each in one sentence: shown on hover.

const WORDS: Readonly<Record<string, string>> = {
  '95 %': 'The 95 % confidence interval.',
  accuracy: 'Right answers of the judged ones at this turn.',
  'right at the last turn': 'By the last judged answer of each rollout: `(last turn)` of everturn stats.',
  'right at any turn': 'By any answer of each rollout, also where a later one was wrong.',
  cancelled: 'Ended before its time, by a person.',
  cut: 'Answers that a limit on tokens ended.',
  ended: 'No further turn is played: complete, undecided, failed or cancelled.',
  'ended so far': 'No further turn of them is played: complete, undecided, failed or cancelled.',
  expected: 'The solution in the data set.',
  found: 'The value that the judge read out of the answer.',
  judged: 'Answers that got a verdict of right or wrong.',
  logprob: 'The natural logarithm of the probability with which the token was sampled.',
  loss: 'A trainer learns from trained tokens, and not from masked ones.',
  'nothing new for': 'The time since the last record of the rollout.',
  outcome:
    'Complete: all turns were played; undecided: an answer could not be judged; failed: our side or the model’s server.',
  p: 'The chance of such a difference, or a larger one, between runs that do not differ: a paired t-test.',
  repaired: 'Wrong at the turn before, right now.',
  return: 'The reward of a turn with the discounted rewards of all later ones; of a rollout, that of its first turn.',
  reward: 'Of this turn alone.',
  'right by now': 'Right at this turn or before, of all rollouts that have ended.',
  sampled: 'Tokens that the model generated.',
  samples: 'Rollouts of the same query, numbered from 0.',
  spoiled: 'Right at the turn before, wrong now.',
  step: 'The present activity of the rollout.',
  surprise: 'The rank of the token among those of the answer, the least likely first.',
  version: 'Of the weights that answered: 0 before the first update, one more with each.',
};

export const explainWord = (word: string): string | undefined => (Object.hasOwn(WORDS, word) ? WORDS[word] : undefined);
