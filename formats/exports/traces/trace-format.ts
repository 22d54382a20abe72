// The interface of a format for traces: what happened when. Every rollout is in it, ended or not, all attempts. Pure:
// `records/export/export-run.ts` drives it.

import type { Trajectory } from '../../../domain/rollout/trajectory.ts';

/** Facts of the run that its records of rollouts do not have. */
export interface TracedRun {
  readonly run: string;
  /** The version of Everturn that writes the traces. */
  readonly everturn: string;
}

export interface TraceEncoder {
  add(trajectory: Trajectory): Iterable<string>;
  /** Called once, after the last trajectory. */
  end(): Iterable<string>;
}

export interface TraceFormat {
  readonly name: string;
  /** One line for the list of formats. */
  readonly description: string;
  /** Said once on stderr: what opens it. */
  readonly note: string;
  open(run: TracedRun): TraceEncoder;
}

/** The judge's time is its own alone: how long an answer waited for it is not recorded. */
export const JUDGED_FROM =
  'an evaluation is drawn from the end of its answer on; waiting for the judge is not recorded';

/**
 * Epoch milliseconds of a rollout: from its first record to its end, or to the last that is known. Workers' clocks may
 * differ: a turn that seems to begin before its rollout begins it.
 */
export function spanOf({ rollout, turns, end }: Trajectory): readonly [number, number] {
  let [from, to] = [rollout.birthTime, Math.max(rollout.birthTime, end?.finishedAt ?? 0)];
  for (const { record, verdict } of turns) {
    if (record.carried) continue;
    from = Math.min(from, record.startedAt);
    to = Math.max(to, record.finishedAt + (verdict?.tookMs ?? 0));
  }
  return [from, to];
}

/** JSON of other languages holds no half of a character. */
export const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, '\ufffd');
