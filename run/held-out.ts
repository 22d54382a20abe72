// The held-out rows of a training run (`eval`): the options that go with them, and the problems that are trained on too.

import { flagOf, unusable } from '../domain/errors/unusable.ts';
import { isFunctionModel } from '../domain/rollout/settings.ts';
import { isAsked, type ResolvedOptions } from './config.ts';
import type { Rows } from './rows.ts';

const OF_VERSIONS = ['batchGroups', 'maxStaleness', 'eval', 'evalEvery', 'evalSamples'] as const;

/** Refuses options that mean nothing without a trainer, and a trainer of what has no weights; numbers in a config file may be shared. */
export function mustTrain({ options, origins }: ResolvedOptions): void {
  if (options.train && isFunctionModel(options.model)) {
    const problem = '--train is given, and the model is a function of the program: its answers have no token ids.';
    throw unusable(problem, 'Leave --train out, or name the model that is trained.', 'bad-settings');
  }
  const given = options.eval === null ? OF_VERSIONS.find((key) => isAsked(origins[key])) : 'eval';
  if (options.train || given === undefined) return;
  const flag = flagOf(given);
  const problem = `${flag} is for versions of the weights, and without --train there is one.`;
  throw unusable(problem, `Give --train too, or leave ${flag} out: held-out rows can be a run of their own.`);
}

/** The held-out problems that are also trained on, by their prompt. */
export async function trainedOnToo(heldOut: Pick<Rows, 'queries'>, trained: Pick<Rows, 'queries'>): Promise<string[]> {
  const asked = new Map<string, string>();
  for await (const { prompt, queryId } of heldOut.queries()) asked.set(JSON.stringify(prompt), queryId);
  const shared = new Set<string>();
  for await (const { prompt } of trained.queries()) {
    const held = asked.get(JSON.stringify(prompt));
    if (held !== undefined) shared.add(held);
  }
  return [...shared];
}
