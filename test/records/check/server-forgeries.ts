// More of forgeries.ts: a run as of a server, whose facts contradict its run.json.

import { type Forgery, turn } from './forgeries.ts';
import { forgeries } from './run-forgeries.ts';
import type { LooseRun } from './forger.ts';

/** The same run as if a server had answered. */
function asOfServer(whole: LooseRun): void {
  const settings = { ...whole.run.settings, model: 'sglang:http://a:1' };
  whole.run.settings = settings;
  for (const one of whole.rollouts) {
    one.rollout.settings = settings;
    for (const each of one.turns) each.server = 'http://a:1';
  }
}

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
};
