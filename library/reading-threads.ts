// The threads that read a large run, a few rollouts at a time, so that a check or an export takes every processor.
// The result is that of one thread, to the byte. Small runs, runs in a bucket (which the network limits) and machines
// with one processor are read by the command itself.

import { availableParallelism } from 'node:os';
import { StoreError } from '../domain/errors/errors.ts';
import type { RolloutId } from '../domain/names/ids.ts';
import type { Layout } from '../formats/exports/index.ts';
import { compiledScript } from '../local/machine/compiled.ts';
import { openThreads } from '../local/machine/threads.ts';
import type { CheckedPart, PartIds, PartsElsewhere } from '../records/check/parts.ts';
import type { ExportedPart, ExportElsewhere, PartOptions } from '../records/export/exported-parts.ts';
import type { Store } from '../records/store.ts';
import { isOnDisk } from '../records/place.ts';

/** The part of a command that its threads need to know. */
export interface Beginning {
  readonly out: string;
  readonly run: string;
  readonly format: string;
  readonly layout: Layout;
  readonly selection: PartOptions;
  /** What `check` needs beside. */
  readonly check?: {
    readonly cwd: string;
    readonly tokenizer: string | false | undefined;
    readonly clockSkewMs: number;
    /** An export is compared, too. */
    readonly exports: boolean;
  };
}

export type Question = { readonly checked: PartIds } | { readonly exported: readonly RolloutId[] };
export type Answer = CheckedPart | ExportedPart;

export interface ReadingThreads extends PartsElsewhere, ExportElsewhere {
  close(): Promise<void>;
}

/** A thread begins in a second of CPU: as much as some hundred rollouts take. */
const LEAST_ROLLOUTS = 1000;
const MOST_THREADS = 4;
/** Rollouts of a thread at a time: one is read while another waits. */
const AT_ONCE = 2;

/** Undefined where the command reads the run itself. */
export async function openReadingThreads(
  store: Store,
  beginning: Beginning,
  { least = LEAST_ROLLOUTS, threads = Math.min(MOST_THREADS, availableParallelism()) } = {},
): Promise<ReadingThreads | undefined> {
  if (threads < 2 || !isOnDisk(store.folder)) return undefined;
  // A damaged record is for the command to name.
  const queries = await store.countQueries().catch(() => 0);
  const samples = (await store.get('run').catch(() => undefined))?.record.samples ?? 1;
  if (queries * samples < least) return undefined;
  const path = compiledScript('./reading-thread', import.meta.url, StoreError);
  const opened = openThreads<Question, Answer>({ script: () => path, beginning, most: threads, many: 1 });
  return {
    atOnce: threads * AT_ONCE,
    checked: (checked) => opened.ask({ checked }) as Promise<CheckedPart>,
    exported: (exported) => opened.ask({ exported }) as Promise<ExportedPart>,
    close: opened.close,
  };
}
