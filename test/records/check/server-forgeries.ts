// More of forgeries.ts: a run as of a server, whose facts contradict its run.json, and verdicts that their reasons deny.

import { type Forgery, rollout, turn } from './forgeries.ts';
import { forgeries } from './run-forgeries.ts';
import type { LooseRollout, LooseRun } from './forger.ts';

/** The same run as if a server had answered. */
function asOfServer(whole: LooseRun): void {
  const settings = { ...whole.run.settings, model: 'sglang:http://a:1' };
  whole.run.settings = settings;
  for (const one of whole.rollouts) {
    one.rollout.settings = settings;
    for (const each of one.turns) each.server = 'http://a:1';
  }
}
const verdict = (change: Partial<LooseRollout['verdicts'][number]>) =>
  rollout((one) => (one.verdicts[1] = { ...one.verdicts[1]!, ...change }));

export const serverForgeries: Readonly<Record<string, Forgery>> = {
  'every answer of another model than the run’s': {
    change: (whole) => {
      asOfServer(whole);
      whole.run.model = {
        ...{ name: 'tiny-x', tokenizer: null, template: null, probe: null, weights: null, canary: null },
      };
      for (const one of whole.rollouts) for (const each of one.turns) each.model = 'gpt-9';
    },
    problem: /says model "gpt-9"; the records say "tiny-x"/,
  },
  'budgets of a larger setting that no turn had': {
    change: (whole) => {
      asOfServer(whole);
      whole.run.settings = { ...whole.run.settings, maxNewTokens: 10_000 };
      for (const one of whole.rollouts) {
        one.rollout.settings = { ...one.rollout.settings, maxNewTokens: 10_000 };
        for (const each of one.turns) each.maxNewTokens = 100;
      }
    },
    problem: /has a budget that was cut at \d+ tokens; budgets of the run end at \d+ lengths/,
  },
  'versions that go back within an answer': {
    change: turn((one) => {
      const n = one.outputIds.length;
      one.versions = [
        { version: 3, versionLabel: 'v3', start: 0, end: 1 },
        { version: 2, versionLabel: 'v2', start: 1, end: n },
      ];
      Object.assign(one, { versionStart: 3, versionEnd: 2 });
    }),
    problem: /has versions that go back within one answer: v3, v2/,
  },
  'one answer for two samples, of a server': {
    change: (whole) => {
      asOfServer(whole);
      forgeries['an improbable answer drawn twice']!.change(whole);
    },
    problem: /an answer that is not drawn twice/,
  },
  'a kind of logprobs that none of its servers gives': {
    change: (whole) => {
      asOfServer(whole);
      whole.run.logprobs = { meaning: 'policy', servers: { 'http://a:1': 'raw' } };
    },
    problem: /says policy logprobs, and its servers give raw ones/,
  },
  // Verdicts and their reasons.
  'a wrong answer whose reason says equal': {
    change: verdict({ verdict: 'wrong', reason: 'equal' }),
    problem: /says wrong, with the reason equal, which is of right/,
  },
  'a right answer whose reason says different': {
    change: verdict({ verdict: 'right', reason: 'different' }),
    problem: /says right, with the reason different, which is of wrong/,
  },
  'an undecided answer for a reason that decides': {
    change: verdict({ verdict: 'undecided', reason: 'no-answer' }),
    problem: /says undecided, with the reason no-answer, which is of wrong/,
  },
  'a wrong answer that our own failure explains': {
    change: verdict({ verdict: 'wrong', reason: 'judge-killed' }),
    problem: /says wrong, with the reason judge-killed, which is of undecided/,
  },
  'a reward without a verdict, and no environment that gives such': {
    change: verdict({ verdict: 'scored', reason: 'fine', reward: 1 }),
    problem: /gives a reward without a verdict/,
  },
};
