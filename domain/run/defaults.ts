// The default settings of a run: those of the original algorithm, with the shipped model.

import { DEFAULT_SETTINGS, type RolloutSettings } from '../rollout/settings.ts';
import { turnSeed } from '../names/ids.ts';

export const DEFAULT_MAX_CONCURRENT = 16;
/** More than one workflow can have: the run is played in blocks (domain/run/blocks.ts). */
export const MAX_CONCURRENT = 20_000;
/** Rollouts in flight of one workflow at most: the server takes 2,000 pending children, and refuses a task with more for ever. */
export const MAX_WINDOW = 1000;

/** The defaults of the command `demo`, where they are others. */
export const DEMO_DEFAULTS = { maxNewTokens: 128 } as const;

/** A run without a seed derives one from its name: the same name gives the same random streams. */
export function seedOfRun(run: string): number {
  return turnSeed(0, run, 0, 0);
}

export function completeSettings(run: string, given: Partial<RolloutSettings> = {}): RolloutSettings {
  return { ...DEFAULT_SETTINGS, seed: given.seed ?? seedOfRun(run), ...given };
}
