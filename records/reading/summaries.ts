// The summaries of a run's rollouts, read from its folder: of each sample the last attempt, in data set order. Memory:
// one rollout's. `check` proves, exports read whole records.

import { closeSync, readdirSync, readSync } from 'node:fs';
import { setImmediate as breath } from 'node:timers/promises';
import { openRegular, readRegular } from '../../local/machine/regular-file.ts';
import type { RolloutSummary } from '../../domain/rollout/rollout-summary.ts';
import { ahead, readAhead } from '../ahead.ts';
import { codeOf, fileError } from '../disk/errors.ts';
import { join } from '../place.ts';
import { rolloutFolder } from '../format/layout.ts';
import type { Owner } from '../format/text.ts';
import type { Store } from '../store.ts';
import { HEAD_BYTES, type RolloutFiles, type SummaryOptions, summaryOf, TAIL_BYTES } from './summary.ts';
import { type OrderedRollout, orderedRollouts } from './trajectories.ts';

/** Blocking reads are three times as cheap as asynchronous ones; between batches others get the event loop. */
const BATCH_MS = 8;

export async function* readSummaries(store: Store, options: SummaryOptions = {}): AsyncGenerator<RolloutSummary> {
  let until = Date.now() + BATCH_MS;
  const rest = async () => {
    if (Date.now() < until) return;
    await breath();
    until = Date.now() + BATCH_MS;
  };
  const summary = async ({ id: { run, query, sample, attempt }, index }: OrderedRollout) => {
    const id = { query, sample, attempt };
    const files = (await store.recordsOf({ run, ...id })) ?? loose(store.folder, id);
    return summaryOf(files, id, index, options);
  };
  for await (const one of ahead(orderedRollouts(store), readAhead(store.folder), summary)) {
    if (one) yield one;
    await rest();
  }
}

function loose(folder: string, id: Owner): RolloutFiles {
  const path = join(folder, rolloutFolder(id));
  return {
    text: (file) => readWhole(join(path, file)),
    tail: (file) => tailOf(join(path, file)),
    names: () => namesIn(path),
  };
}

function tailOf(path: string): string | undefined {
  let file: number | undefined;
  try {
    const opened = openRegular(path);
    file = opened.fd;
    const { size } = opened;
    const head = size > TAIL_BYTES ? Math.min(HEAD_BYTES, size - TAIL_BYTES) : 0;
    const bytes = Buffer.alloc(head + Math.min(TAIL_BYTES, size));
    if (head > 0) readSync(file, bytes, 0, head, 0);
    const read = readSync(file, bytes, head, bytes.length - head, size - (bytes.length - head));
    return bytes.toString('utf8', 0, head + read);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw fileError('read', path, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function readWhole(path: string): string | undefined {
  try {
    return readRegular(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw fileError('read', path, error);
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw fileError('read', folder, error);
  }
}
