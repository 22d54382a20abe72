// The interface of every export format. Pure: one trajectory in, its lines out.

import type { Trajectory } from '../domain/trajectory.ts';

export interface FormerLines {
  readonly id: string;
  readonly lines: readonly string[];
}

export interface Exporter {
  readonly name: string;
  readonly extension: string;
  /** One line for the list of formats. */
  readonly description: string;
  /** Its lines are for training: trajectories whose answers have no token ids are refused. */
  readonly forTraining: boolean;
  /** The sample's id in the file: unique for each (query, sample). */
  id(trajectory: Trajectory): string;
  /**
   * Lines as an older Everturn wrote them, with their id; undefined if today's are the same. A check of an old file
   * recognises them by these.
   */
  former?(trajectory: Trajectory): FormerLines | undefined;
  /** Lines (no newline) of one complete trajectory. Throws StoreError if the record cannot be right. */
  lines(trajectory: Trajectory): string[];
}
