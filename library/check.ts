// Proves a run's records, from its folder and against an export: what `everturn check` does beside printing.

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { unusable } from '../domain/errors/unusable.ts';
import { plural } from '../domain/text/plural.ts';
import { areal } from '../formats/exports/areal.ts';
import type { Sequences } from '../formats/exports/index.ts';
import { everturnVersion } from '../local/machine/package-root.ts';
import type { OnProgress } from '../local/machine/progress.ts';
import type { Environment } from '../local/machine/user-folders.ts';
import { checkRun, type CheckSummary } from '../records/check/check.ts';
import { CLOCK_SKEW_MS } from '../records/check/end.ts';
import type { Breach, OnBreach } from '../records/store.ts';
import { askServer } from './ask-server.ts';
import { filterOf, readingOf, type SampleOptions } from './export-plan.ts';
import { openReadingThreads } from './reading-threads.ts';
import type { RunPlace } from '../run/place.ts';
import { forcedPassOf } from './run-model.ts';
import { callTextsOf, tokenizerOf } from './run-tokenizer.ts';
import { seenExport } from './seen-export.ts';

/** The options that chose rollouts for the export are given again. */
export interface CheckOptions extends Omit<SampleOptions, 'advantages' | 'texts'> {
  /** Also proves that this export holds what the records give. */
  readonly export?: string | undefined;
  /** The export's format. Default: as its lines say. */
  readonly format?: string | undefined;
  /** The export's layout. Default: as its lines say. */
  readonly sequences?: Sequences | undefined;
  /** The folder of a tokenizer, by which texts are proved; false for none. Default: the model's own, if it is on this machine. */
  readonly tokenizer?: string | false | undefined;
  /** How far workers' clocks may be apart, in seconds. */
  readonly clockSkew?: number | undefined;
  /** Called for each breach as it is found. */
  readonly onBreach?: OnBreach | undefined;
}

export interface CheckResult extends CheckSummary {
  readonly folder: string;
  /** The entries of the ledger as the run's feed counts them; absent if none answers. */
  readonly feedCounts?: number;
  /** What the records do not prove: 0 where all is right. */
  readonly breaches: number;
  /** The tokenizer by which texts were compared; null: by rules that hold for every one. */
  readonly tokenizer: string | null;
}

export interface Around {
  readonly cwd: string;
  readonly env: Environment;
  /** Why the server that is named does not answer. */
  readonly onProgress?: OnProgress | undefined;
}

/** `seen`: the export, as which it was seen; `why`: why there was no tokenizer, empty if there was one. */
export async function checkPlace(place: RunPlace, around: Around, given: CheckOptions) {
  const { out, run, store } = place;
  const { cwd, env, onProgress } = around;
  let breaches = 0;
  const report: OnBreach = (breach) => {
    breaches++;
    given.onBreach?.(breach);
  };
  const file = given.export === undefined ? undefined : exportFile(cwd, given.export);
  const record = (await store.get('run').catch(() => undefined))?.record;
  const filter = filterOf(given) ?? record?.keep;
  const chosen = { ...readingOf(given), ...(filter && { filter }) };
  const wanted = { format: given.format, sequences: given.sequences, selection: chosen };
  const seen = file === undefined ? undefined : await seenExport(store, record, file, wanted);
  const { tokenizer, hashes, why } = await tokenizerOf(store, cwd, given.tokenizer);
  const calls = await callTextsOf(record);
  const clockSkewMs = given.clockSkew === undefined ? CLOCK_SKEW_MS : given.clockSkew * 1000;
  // Asked first: the ledger only grows.
  const counted = await countedByFeed(place, around);
  const proofs = { cwd, tokenizer: given.tokenizer, clockSkewMs, exports: file !== undefined };
  const { exporter = areal, layout = 'rollout', selection = {} } = seen ?? {};
  const beginning = { out, run, format: exporter.name, layout, selection, check: proofs };
  const parts = await openReadingThreads(store, beginning);
  const model = given.tokenizer === undefined ? await forcedPassOf(record, cwd) : undefined;
  const summary = await checkRun(store, report, {
    ...(file !== undefined && { export: { exporter, ...selection, file } }),
    ...{ tokenizer, hashes, everturn: everturnVersion(), clockSkewMs, calls, elsewhere: parts },
    forced: model?.pass,
    isGoing: () => isGoing(run, env, onProgress),
  }).finally(() => Promise.all([parts?.close(), model?.close()]));
  const entries = summary.feed?.entries ?? 0;
  if (counted !== undefined && entries < counted) report(shortened(entries, counted));
  const result: CheckResult = {
    ...{ folder: store.folder, ...summary },
    ...(counted !== undefined && { feedCounts: counted }),
    ...{ breaches, tokenizer: tokenizer?.name ?? null },
  };
  return { result, seen, why };
}

export function shortened(entries: number, counted: number): Breach {
  return { path: 'feed', problem: `has ${plural(entries, 'entry', 'entries')}; the run's feed counts ${counted}` };
}

async function countedByFeed({ run, out, store }: RunPlace, { env, onProgress }: Around): Promise<number | undefined> {
  const record = (await store.get('run').catch(() => undefined))?.record;
  if (!record?.train && (await store.countFeedEntries().catch(() => 0)) === 0) return undefined;
  const { entriesOfFeed } = await import('../client/temporal/feed.ts');
  return askServer(env, ({ session }) => entriesOfFeed(session, { run, out }, record?.createdAt ?? 0), onProgress);
}

/** Undefined if no server answers. */
function isGoing(run: string, env: Environment, onProgress: Around['onProgress']): Promise<boolean | undefined> {
  return askServer(
    env,
    async ({ session }) => {
      const { describeWorkflow } = await import('../client/temporal/runs.ts');
      return (await describeWorkflow(session, run, 1)).state === 'running';
    },
    onProgress,
  );
}

/** A missing export is a usage error, not a breach of the run. */
function exportFile(cwd: string, named: string): string {
  const file = resolve(cwd, named);
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) return file;
  const fix = 'Name a file that `everturn export --to` wrote.';
  throw unusable(`--export: ${JSON.stringify(named)} is not a file.`, fix);
}
