// Forgeries of a run that agree with themselves (forger.ts makes the rest follow), each with what check must say of it.
// The run is test/fixtures/run-always.json: 5 queries, 2 samples each, 3 turns. `byTokenizer`: found only with the model's.

import type { LooseRollout, LooseRun } from './forger.ts';

export interface Forgery {
  readonly change: (whole: LooseRun) => void;
  readonly problem: RegExp;
  readonly byTokenizer?: true;
}

/** Of the first rollout, its second turn where nothing else is said. */
export const rollout = (change: (one: LooseRollout, whole: LooseRun) => void) => (whole: LooseRun) =>
  change(whole.rollouts[0]!, whole);
export const turn = (change: (one: LooseRollout['turns'][number], of: LooseRollout) => void, number = 2) =>
  rollout((one) => change(one.turns[number - 1]!, one));
/** Ids of another length keep what goes with them. */
export function setOutput(
  one: LooseRollout['turns'][number],
  outputIds: readonly number[],
  logprobs: readonly number[],
): void {
  const version = one.versionStart;
  Object.assign(one, { outputIds, logprobs, versions: [{ version, start: 0, end: outputIds.length }] });
}
const flip = (one: LooseRollout, i: number) => {
  const verdict = one.verdicts[i]!;
  one.verdicts[i] = { ...verdict, verdict: verdict.verdict === 'right' ? 'wrong' : 'right' };
};

export const turnForgeries: Readonly<Record<string, Forgery>> = {
  // What the model was shown.
  'another question under the prompt': {
    change: turn((one) => (one.contextText = one.contextText.replace(/\d+/, '999999')), 1),
    problem: /does not show the model the question/,
  },
  'other ids under the same prompt': {
    change: turn((one) => (one.contextIds = [...one.contextIds, 5]), 1),
    problem: /has other context ids than/,
  },
  'a hint within the prompt': {
    change: turn((one) => (one.contextText = one.contextText.replace('<|im_end|>', ' Hint: 42.<|im_end|>')), 1),
    problem: /says contextText .*Hint: 42.*; its rollout and .* give/,
    byTokenizer: true,
  },
  'a query with an easier question': {
    change: (whole) => {
      const prompt = { kind: 'messages', messages: [{ role: 'user', content: 'What is 1 + 1?' }] } as const;
      whole.queries[0]!.prompt = prompt;
      for (const one of whole.rollouts.filter((each) => each.rollout.index === 0))
        one.rollout.query = { ...one.rollout.query, prompt };
    },
    problem: /does not show the model the question/,
  },
  'feedback with a hint': {
    change: turn((one) => (one.contextText = one.contextText.replace('<|im_end|>', ' It is 42.<|im_end|>'))),
    problem: /says contextText .*It is 42.*; its rollout and .* give/,
    byTokenizer: true,
  },
  'feedback of other ids': {
    change: turn((one) => (one.contextIds = one.contextIds.map((id, i) => (i === 3 ? id + 1 : id)))),
    problem: /has other context ids than/,
  },
  'feedback without its line break': {
    change: turn((one) => (one.contextText = one.contextText.slice(1))),
    problem: /line break/,
  },
  'a verdict turned, and the feedback left': {
    change: rollout((one) => flip(one, 0)),
    problem: /does not tell the model that turn 1 was/,
  },
  // What the model said.
  'an answer that its ids do not say': {
    change: turn((one) => (one.answer = `${one.answer} \\boxed{42}`)),
    problem: /says answer .*; its rollout and .* give/,
    byTokenizer: true,
  },
  'an answer and a text that its ids do not say': {
    change: turn((one) => {
      one.answer = 'It is \\boxed{42}';
      one.outputText = 'It is \\boxed{42}<|im_end|>';
    }),
    problem: /says outputText .*; its rollout and .* give/,
    byTokenizer: true,
  },
  'ids that its text does not say': {
    change: turn((one) => (one.outputIds = [one.outputIds[0]! + 1, ...one.outputIds.slice(1)])),
    problem: /says outputText .*; its rollout and .* give/,
    byTokenizer: true,
  },
  'a stop token in the middle': {
    change: turn((one) => {
      const stop = one.outputIds.at(-1)!;
      setOutput(
        one,
        [one.outputIds[0]!, stop, ...one.outputIds.slice(1)],
        [one.logprobs[0]!, -1, ...one.logprobs.slice(1)],
      );
    }),
    problem: /has the stop token 2 at place 2/,
    byTokenizer: true,
  },
  'an answer that stops without a stop token': {
    change: turn((one) => {
      setOutput(one, one.outputIds.slice(0, -1), one.logprobs.slice(0, -1));
      one.outputText = one.answer;
    }),
    problem: /ends by stop, and its last token/,
    byTokenizer: true,
  },
  'an answer cut that had budget left': {
    change: turn((one) => (one.finish = 'length')),
    problem: /ends by length after \d+ tokens of a budget/,
  },
  'an abort that was not asked on': {
    change: turn((one) => (one.finish = 'abort')),
    problem: /ends by abort after/,
  },
  'no answer at all': {
    change: turn((one) => {
      setOutput(one, [], []);
      one.outputText = one.answer = '';
    }),
    problem: /has no output token/,
  },
  'a budget that its settings do not give': {
    change: turn((one) => (one.maxNewTokens = 20_000)),
    problem: /has a budget of 20000 new tokens/,
  },
  // Numbers.
  'a positive logprob': {
    change: turn((one) => (one.logprobs = [0.5, ...one.logprobs.slice(1)])),
    problem: /has the logprob 0.5 at output token 1/,
  },
  'a logprob that no model gives': {
    change: turn((one) => (one.logprobs = [...one.logprobs.slice(0, -1), -1e5])),
    problem: /has the logprob -100000/,
  },
  'logprobs said to be of another distribution': {
    change: turn((one) => (one.logprobsOf = 'raw')),
    problem: /says logprobsOf "raw"; the records say "policy"/,
  },
  'ids that are no numbers': {
    change: turn((one) => (one.outputIds = one.outputIds.map(String) as unknown as number[])),
    problem: /has no right outputIds/,
  },
  'a version that int32 cannot hold': {
    change: turn((one) => {
      one.versions = [{ ...one.versions[0]!, version: 2 ** 31 }];
      one.versionStart = one.versionEnd = 2 ** 31;
    }),
    problem: /has no right versions/,
  },
  'a version that its label denies': {
    change: turn((one) => {
      one.versions = [{ ...one.versions[0]!, version: 7, versionLabel: 'step-12' }];
      one.versionStart = one.versionEnd = 7;
    }),
    problem: /says versions .*"version":7.*; the records say .*"version":12/,
  },
  'a finish that there is not': {
    change: turn((one) => (one.finish = 'eos' as 'stop')),
    problem: /has no right finish/,
  },
  // Seeds, models and servers.
  'a turn drawn from another seed': {
    change: turn((one) => (one.seed = one.seed! + 1)),
    problem: /says seed \d+; the records say \d+/,
  },
  'an answer of another model': {
    change: turn((one) => (one.model = 'gpt-5')),
    problem: /says model "gpt-5"; the records say "tiny"/,
  },
  'an answer of a server that the run does not ask': {
    change: (whole) => {
      const settings = { ...whole.run.settings, model: 'sglang:http://a:1,http://b:2' };
      whole.run.settings = settings;
      for (const one of whole.rollouts) {
        one.rollout.settings = settings;
        for (const each of one.turns) each.server = 'http://a:1';
      }
      whole.rollouts[0]!.turns[1]!.server = 'http://evil:1';
    },
    problem: /says the server http:\/\/evil:1, which is none of/,
  },
  'a text answer said to be one to train on': {
    change: (whole) => {
      const settings = { ...whole.run.settings, model: 'openai:http://a:1#m' };
      whole.run.settings = settings;
      for (const one of whole.rollouts) {
        one.rollout.settings = settings;
        for (const each of one.turns) each.server = 'http://a:1';
      }
    },
    problem: /came from a server that gives text only/,
  },
  'a turn hidden from training': {
    change: turn((one) => (one.trainable = false)),
    problem: /has token ids or logprobs, and is said to be text only/,
  },
  // Settings.
  'a rollout with a better reward scale than its run': {
    change: rollout((one) => (one.rollout.settings = { ...one.rollout.settings, rewardScaling: 10 })),
    problem: /says settings\.rewardScaling 10; run\.json says 1/,
  },
  'a rollout with another discount': {
    change: rollout((one) => (one.rollout.settings = { ...one.rollout.settings, turnDiscount: 1 })),
    problem: /says settings\.turnDiscount 1; run\.json says 0\.9/,
  },
  'a greedy rollout in a run that samples': {
    change: rollout((one) => (one.rollout.settings = { ...one.rollout.settings, temperature: 0 })),
    problem: /says settings\.temperature 0; run\.json says 1/,
  },
  'a rollout with fewer turns to play': {
    change: rollout((one) => {
      one.rollout.settings = { ...one.rollout.settings, numTurns: 2 };
      one.turns.pop();
      one.verdicts.pop();
    }),
    problem: /says settings\.numTurns 2; run\.json says 3/,
  },
};

/** Texts of a record that hash well and read otherwise than they are written. */
export const texts: Readonly<Record<string, { change: (text: string) => string; problem: RegExp }>> = {
  'a key that stands twice': {
    change: (text) => text.replace('"finish":"stop"', '"finish":"length","finish":"stop"'),
    problem: /is not the text that its content gives/,
  },
  'a number that is infinite': {
    change: (text) => text.replace(/"logprobs":\[[^,]+/, '"logprobs":[-1e400'),
    problem: /has no right logprobs: it should be a list of numbers/,
  },
  'a zero below zero': {
    change: (text) => text.replace(/"logprobs":\[[^,]+/, '"logprobs":[-0'),
    problem: /is not the text that its content gives/,
  },
  'a number written otherwise': {
    change: (text) => text.replace('"turn":2', '"turn":2.0'),
    problem: /is not the text that its content gives/,
  },
  'spaces between': {
    change: (text) => text.replace('"turn":2', '"turn": 2'),
    problem: /is not the text that its content gives/,
  },
  'a hidden key of the same letters': {
    change: (text) => text.replace('"turn":2', '"turn":2,"\\u0074urn":2'),
    problem: /is not the text that its content gives/,
  },
};
