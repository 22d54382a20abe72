// The interface of every export format. Pure: trajectories in, their lines or bytes out. `records/export/export-run.ts` drives it.

import type { Trajectory } from '../rollout/trajectory.ts';
import type { RowLabels, RowOptions } from './neutral-row.ts';

export type Labels = Partial<RowLabels> & RowOptions;
export type Chunk = string | Uint8Array;

/** The parts that a format has no place for. */
export type NotCarried = 'no-right-answer' | 'text-prompt';

/** A format with a state: a file's head and end, or lines that several trajectories make. */
export interface Encoder {
  /** Added so far, of a format whose rows are not lines. */
  readonly rows?: number;
  /** Throws StoreError before it changes anything. */
  add(trajectory: Trajectory, labels: Labels): Chunk[];
  /** Called once, after the last trajectory. */
  end(): Chunk[];
}

export interface Exporter {
  readonly name: string;
  readonly extension: string;
  /** Fields that every JSON line has, and together no line of another format. */
  readonly fields?: readonly string[];
  /** One line for the list of formats. */
  readonly description: string;
  /** Its lines are made of token ids: a trajectory with an answer of text alone is left out. */
  readonly needsIds: boolean;
  /** It also takes rollouts that ended and are not complete, as recorded; `all`: those without a turn too. */
  readonly incomplete?: boolean | 'all';
  /** The parts of a trajectory that it cannot carry, or a fact that its reader must know; said once on stderr. */
  readonly note?: string;
  /** Its lines hold labels of the group. */
  readonly grouped?: boolean;
  /** It has a place for finished advantages. */
  readonly advantages?: true;
  /** It has a place for masks of single tokens, so that stale ones can be left untrained. */
  readonly masks?: true;
  /** The sample's id in the file: unique for each (query, sample). Absent where a line is not a sample. */
  id?(trajectory: Trajectory): string;
  /** Why a complete trajectory has nothing for this format; undefined if it has. */
  leavesOut?(trajectory: Trajectory): NotCarried | undefined;
  /** Lines (no newline) of one trajectory that the format takes. Throws StoreError if the record cannot be right. */
  lines(trajectory: Trajectory, labels?: Labels): string[];
  /** Instead of lines. */
  open?(): Encoder;
}
