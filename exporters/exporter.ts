// The way out: the interface of every export format. Pure: one trajectory in, its lines out.

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
  /** Its lines are for training: trajectories whose answers have no ids of their own are refused. */
  readonly forTraining: boolean;
  /** The id of its sample in the file: of another (query, sample) another. */
  id(trajectory: Trajectory): string;
  /**
   * Lines as an older Everturn wrote them, with the id that they had there; undefined where those of today are the same.
   * A check of an old file knows them by these.
   */
  former?(trajectory: Trajectory): FormerLines | undefined;
  /** Lines (no newline) of one complete trajectory. Throws StoreError when the record cannot be right. */
  lines(trajectory: Trajectory): string[];
}
