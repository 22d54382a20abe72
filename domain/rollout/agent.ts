// An agent as data: a preset of a run's settings, and what one training sample is made of. It replaces defaults only: a
// value that the user gives counts. The judges or environments that answer are named by the rows and by --environment,
// so any agent plays with any of them. Named ones stand here; a user's come from his environment. Pure.

import { NAME, objectOf, oneOf } from '../schema/fields.ts';
import type { AgentSetting, RolloutSettings } from './settings.ts';

export const SAMPLES_OF = ['rollout', 'query'] as const;
/** A training sample holds the turns of one rollout, or the answers of all rollouts of one query in one epoch. */
export type SampleOf = (typeof SAMPLES_OF)[number];

export interface Agent {
  readonly name: string;
  readonly settings: Partial<Pick<RolloutSettings, AgentSetting>> & Pick<RolloutSettings, 'numTurns'>;
  readonly sampleOf: SampleOf;
}

/** The part of it that run.json holds beside the settings. */
export const AGENT = objectOf({ name: NAME, sampleOf: oneOf(...SAMPLES_OF) });

const ORIGINAL = { stop: 'always', feedback: 'seed', rewardScaling: 1, rewardBias: 0, turnDiscount: 1 } as const;
const singleStep = (name: string): Agent => ({ name, settings: { ...ORIGINAL, numTurns: 1 }, sampleOf: 'query' });

/** The original's registry. Its agents differ in their turns and samples; the judge follows from each row's task. */
export const AGENTS: readonly Agent[] = [
  { name: 'math-multi-turn', settings: { ...ORIGINAL, numTurns: 5 }, sampleOf: 'rollout' },
  singleStep('math-single-step'),
  singleStep('math-code-single-step'),
];

/** The original's name for the judges of mathematics and code by a row's task: what answers without --environment. */
export const BY_TASK = 'math-code-single-step';
