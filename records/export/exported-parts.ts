// The lines of an export in parts of some rollouts, in data set order, then sample order: made here, or by other threads. Each
// rollout that is left out is in its part. Memory: the lines of one part here, of some parts with threads.

import type { RolloutId } from '../../domain/names/ids.ts';
import { mapAhead } from '../map-ahead.ts';
import { openSelection, type SelectionOptions, type SkippedRollout, type WhySkipped } from './selection.ts';
import type { Store } from '../store.ts';
import { rolloutsInOrder } from '../reading/trajectories.ts';
import { StoreError } from '../../domain/errors/errors.ts';
import type { Exporter } from '../../domain/samples/exporter.ts';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';

export interface ExportedPart {
  /** All lines, each with its newline. */
  readonly bytes: Uint8Array;
  readonly samples: readonly ExportedSample[];
  readonly skipped: readonly SkippedRollout[];
}

interface ExportedSample {
  readonly query: string;
  readonly sample: number;
  /** False: only the finished turns of an undecided rollout. */
  readonly whole: boolean;
  readonly lines: number;
  /** Another sample of the same rollout stands before it. */
  readonly further: boolean;
  /** The sample's id in the file; null if the format has none. */
  readonly id: string | null;
}

export type PartOptions = Omit<SelectionOptions, 'needsIds' | 'grouped' | 'incomplete'>;

/** Other threads that export: each reply is what this process would have made. */
export interface ExportElsewhere {
  /** Calls at the same time. */
  readonly atOnce: number;
  exported(ids: readonly RolloutId[]): Promise<ExportedPart>;
}

export type MakePart = (ids: readonly RolloutId[]) => Promise<ExportedPart>;

/** Makes the parts of one export; the last group's labels stay in memory. */
export async function openPartMaker(store: Store, exporter: Exporter, options: PartOptions = {}): Promise<MakePart> {
  const { needsIds, grouped = false, incomplete = false } = exporter;
  const select = await openSelection(store, { ...options, needsIds, grouped, incomplete });
  return async (ids) => {
    const samples: ExportedSample[] = [];
    const skipped: SkippedRollout[] = [];
    const onSkip = (rollout: SkippedRollout) => void skipped.push(rollout);
    const texts: string[] = [];
    for await (const { trajectory, labels, whole } of select(ids, onSkip)) {
      const { query, sample } = trajectory.rollout;
      const one = made(exporter, trajectory, onSkip, () => {
        const lines = exporter.lines(trajectory, labels);
        return { id: exporter.id?.(trajectory) ?? null, lines };
      });
      if (!one) continue;
      for (const line of one.lines) texts.push(line, '\n');
      const further = isFurther(trajectory);
      samples.push({ query: query.queryId, sample, whole, further, ...one, lines: one.lines.length });
    }
    return { bytes: Buffer.from(texts.join('')), samples, skipped };
  };
}

export async function* exportedParts(
  store: Store,
  exporter: Exporter,
  options: PartOptions = {},
  elsewhere?: ExportElsewhere,
): AsyncGenerator<ExportedPart> {
  const here = await openPartMaker(store, exporter, options);
  const { filter, advantages = 'none' } = options;
  const labelled = exporter.grouped === true || filter !== undefined || advantages !== 'none';
  const parts = inParts(rolloutsInOrder(store), labelled);
  // A part that another thread could not make is made here, and fails here if it must.
  const make: MakePart = elsewhere ? (ids) => elsewhere.exported(ids).catch(() => here(ids)) : here;
  yield* mapAhead(parts, elsewhere?.atOnce ?? 1, make);
}

const PART = 16;
const MOST = 64;

/** `byQuery`: in parts that end with a query, unless it has very many samples: a part reads the ends of its groups. */
async function* inParts(ids: AsyncIterable<RolloutId>, byQuery: boolean): AsyncGenerator<readonly RolloutId[]> {
  let part: RolloutId[] = [];
  for await (const id of ids) {
    const mayEnd = !byQuery || part.length >= MOST || part.at(-1)?.query !== id.query;
    if (part.length >= PART && mayEnd) {
      yield part;
      part = [];
    }
    part.push(id);
  }
  if (part.length > 0) yield part;
}

/** Undefined for a trajectory that gives nothing, which is reported. */
export function made<T>(
  exporter: Pick<Exporter, 'leavesOut'>,
  trajectory: Trajectory,
  onSkip: (rollout: SkippedRollout) => void,
  make: () => T,
): T | undefined {
  const { query, sample } = trajectory.rollout;
  const skip = (outcome: WhySkipped, problem: string | null): undefined =>
    void onSkip({ query: query.queryId, sample, outcome, problem });
  try {
    const left = exporter.leavesOut?.(trajectory);
    return left ? skip(left, null) : make();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return skip('broken', error.message);
  }
}

/** Another sample of an agent's rollout, which was counted with the first one. */
export const isFurther = ({ branch }: Trajectory): boolean => branch !== undefined && branch.index > 0;
