// The ended rollouts of a run, as readers see them. On a disk they are lines of segments (segments.ts), in a bucket an
// object each (objects.ts). A line that cannot be read is an error for those that ask for it: it is not absent.

import type { RolloutRow } from '../../domain/rollout/rollout-row.ts';
import { NameSet } from '../name-set.ts';
import type { Breach, SeenRows } from '../store.ts';
import type { EndedRollout } from './line.ts';
import type { EndedId } from './places.ts';

export const nothingSeen = (): SeenRows => ({ inFlight: new Map(), lines: new Map(), objects: new NameSet() });

export interface Ended {
  /** As it was when last looked. */
  knows(id: EndedId): boolean;
  /** Looks again, and throws if there are lines that nobody can read: the rollout may be one of them. */
  look(id: EndedId): Promise<boolean>;
  /** Looks again, by the path of its folder; undefined as well for a line that nobody can read. */
  inFolder(path: string): Promise<EndedId | undefined>;
  /** Undefined if it has not ended. */
  rollout(id: EndedId): Promise<EndedRollout | undefined>;
  /** The path of the file that holds the line of an ended rollout, and where in it. */
  lineOf(id: EndedId): string;
  /** Looks again; in no order. `partly`: even if there are lines that nobody can read. */
  of(query: string, partly: boolean): Promise<readonly EndedId[]>;
  /**
   * Looks again; each once, on a disk in the order in which they ended, in a bucket in no order. Lines that nobody can read go to
   * `onFlaw`, else they are an error.
   */
  entries(
    onFlaw?: (path: string, problem: string) => void,
    seen?: Omit<SeenRows, 'inFlight'>,
  ): AsyncGenerator<RolloutRow>;
  /** Lines that do not count and hold another record of their rollout than the one that does. */
  conflicts(): AsyncGenerator<Breach>;
}
