// A run in parts of some rollouts, in the order of the data set: each part is read once, for the proof of its records and for
// its samples of an export, here or by other threads. Memory: a few parts, and some bytes for each rollout.

import { StoreError } from '../../domain/errors/errors.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import { mapAhead } from '../map-ahead.ts';
import { type ExportedPart, type MakePart, openPartMaker } from '../export/exported-parts.ts';
import { NameSet } from '../name-set.ts';
import type { RunRecord } from '../format/run-record.ts';
import type { Store } from '../store.ts';
import { rolloutsInOrder } from '../reading/trajectories.ts';
import type { ExportCheck } from './export.ts';
import { type FactsOptions, openFacts, type RolloutFacts } from './facts.ts';

export interface PartIds {
  /** To be proved. */
  readonly listed: readonly RolloutId[];
  /** The last attempt at each sample. */
  readonly last: readonly RolloutId[];
}

export interface CheckedPart {
  readonly facts: readonly RolloutFacts[];
  /** Undefined without an exporter; an error where records cannot be read. */
  readonly exported?: ExportedPart | StoreError;
}

/** Other threads that read the run: each reply is what this process would have found. */
export interface PartsElsewhere {
  /** Calls at the same time. */
  readonly atOnce: number;
  /** Rejects where the part cannot be exported, too. */
  checked(ids: PartIds): Promise<CheckedPart>;
}

export interface PartsOptions extends FactsOptions {
  readonly export?: ExportCheck;
  readonly elsewhere?: PartsElsewhere | undefined;
}

export function openRunParts(store: Store, run: RunRecord | undefined, options: PartsOptions) {
  const facts = openFacts(store, run, options);
  const { elsewhere } = options;
  const here = openParts(store, facts, options.export);
  // A part that another thread could not read is read here, and fails here if it must.
  const checked = elsewhere ? (ids: PartIds) => elsewhere.checked(ids).catch(() => here(ids)) : here;
  return {
    facts,
    async *of(listing: AsyncIterable<RolloutId>): AsyncGenerator<CheckedPart> {
      const listed = new NameSet();
      for await (const id of listing) listed.add(nameOf(id));
      let failure: StoreError | undefined;
      const parts = inParts(store, listed, (error) => (failure = error));
      yield* mapAhead(parts, elsewhere?.atOnce ?? 1, checked);
      if (failure && options.export) yield { facts: [], exported: failure };
    },
  };
}

const nameOf = ({ query, sample, attempt }: RolloutId): string => `${sample}.${attempt} ${query}`;

/** A part's export follows its proof at once: its lines are still in memory. */
export function openParts(
  store: Store,
  facts: (id: RolloutId) => Promise<RolloutFacts>,
  exporting: ExportCheck | undefined,
): (ids: PartIds) => Promise<CheckedPart> {
  let maker: Promise<MakePart> | undefined;
  return async ({ listed, last }) => {
    const found = await Promise.all(listed.map(facts));
    if (!exporting) return { facts: found };
    const { exporter, file: _, ...selection } = exporting;
    try {
      const make = await (maker ??= openPartMaker(store, exporter, selection));
      return { facts: found, exported: await make(last) };
    } catch (error) {
      if (!(error instanceof StoreError) || error.retryable) throw error;
      return { facts: found, exported: error };
    }
  };
}

/** As many as a store holds in memory. */
const PART = 16;

/** `onFailure`: what says the order cannot be read; then every listed rollout is proved all the same. */
async function* inParts(
  store: Store,
  listed: NameSet,
  onFailure: (error: StoreError) => void,
): AsyncGenerator<PartIds> {
  let part: { listed: RolloutId[]; last: RolloutId[] } = { listed: [], last: [] };
  let before: RolloutId | undefined;
  const proved = new NameSet();
  const isDue = (id: RolloutId) => listed.has(nameOf(id)) && proved.add(nameOf(id));
  try {
    for await (const id of rolloutsInOrder(store, { attempts: 'all', partly: true })) {
      if (before && (before.query !== id.query || before.sample !== id.sample)) {
        part.last.push(before);
        if (part.last.length >= PART) {
          yield part;
          part = { listed: [], last: [] };
        }
      }
      before = id;
      if (isDue(id)) part.listed.push(id);
    }
    if (before) part.last.push(before);
  } catch (error) {
    if (!(error instanceof StoreError) || error.retryable) throw error;
    onFailure(error);
  }
  yield part;
  if (proved.size === listed.size) return;
  // Not reached.
  const rest: RolloutId[] = [];
  for await (const id of store.listRollouts(() => {})) if (isDue(id)) rest.push(id);
  for (let at = 0; at < rest.length; at += PART) yield { listed: rest.slice(at, at + PART), last: [] };
}
