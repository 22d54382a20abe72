// Writes every rollout of a run through an encoder: all attempts, ended or not. The file appears complete or not at all;
// damaged rollouts are counted and named. Memory: one trajectory, and what the encoder holds.

import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Trajectory } from '../../domain/rollout/trajectory.ts';
import { type ExportSummary, mustNotReplace, NothingToWrite, writeFileAt } from './export-run.ts';
import type { SkippedRollout } from './selection.ts';
import type { Store } from '../store.ts';
import { readTrajectories } from '../reading/trajectories.ts';

export interface EveryEncoder {
  add(trajectory: Trajectory): Iterable<string>;
  /** Called once, after the last trajectory. */
  end(): Iterable<string>;
}

export interface EveryOptions {
  readonly overwrite: boolean;
  readonly onSkip: (rollout: SkippedRollout) => void;
}

/** `target`: a file's path, or a stream such as process.stdout. */
export async function exportEvery(
  store: Store,
  encoder: EveryEncoder,
  target: string | Writable,
  { overwrite, onSkip }: EveryOptions,
): Promise<ExportSummary> {
  let [exported, broken] = [0, 0];
  let firstProblem: string | null = null;
  async function writeAll(write: (text: string) => Promise<void>): Promise<void> {
    const written = async (texts: Iterable<string>) => {
      let block = '';
      for (const text of texts) {
        block += text;
        if (block.length < BLOCK_CHARS) continue;
        await write(block);
        block = '';
      }
      if (block !== '') await write(block);
    };
    const trajectories = readTrajectories(store, {
      attempts: 'all',
      onBroken({ query, sample }, { message: problem }) {
        broken++;
        firstProblem ??= problem;
        onSkip({ query, sample, outcome: 'broken', problem });
      },
    });
    for await (const trajectory of trajectories) {
      exported++;
      await written(encoder.add(trajectory));
    }
    await written(encoder.end());
  }
  if (typeof target === 'string') {
    await writeFileAt(target, overwrite, async (file) => {
      await writeAll((text) => file.appendFile(text));
      if (exported === 0) throw new NothingToWrite();
      if (overwrite && broken > 0) await mustNotReplace(target, broken, firstProblem);
    });
  } else {
    await writeAll(async (text) => {
      if (!target.write(text)) await once(target, 'drain');
    });
  }
  return {
    exported,
    lines: exported,
    finishedTurns: 0,
    skipped: broken > 0 ? { broken } : {},
    ...(exported === 0 && { empty: true }),
  };
}

const BLOCK_CHARS = 1 << 16;
