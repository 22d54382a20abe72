// The way out: the interface of every export format. Pure: one trajectory in, its lines out.

import type { Trajectory } from '../domain/trajectory.ts';

export interface Exporter {
  readonly name: string;
  readonly extension: string;
  /** One line for the list of formats. */
  readonly description: string;
  /** Its lines are for training: trajectories whose answers have no ids of their own are refused. */
  readonly forTraining: boolean;
  /** Lines (no newline) of one complete trajectory. Throws StoreError when the record cannot be right. */
  lines(trajectory: Trajectory): string[];
}
