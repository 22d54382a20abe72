// The messages that the pages ask for, made from the records: the server sends them as JSON, the report embeds them.
// Reads only. A list waits for its first rows, never for all.

import { UsageError } from '../domain/errors/errors.ts';
import { isRunName, type RolloutId } from '../domain/names/ids.ts';
import { rolloutFolder } from '../records/format/layout.ts';
import { evaluationNames } from '../records/run/evaluation-record.ts';
import type { Priced } from '../domain/statistics/timing.ts';
import type { Asks } from './model/asks.ts';
import { parseFilter, listed, neighbours, cutPage } from './model/filter.ts';
import { compareRuns, compareSeveral, type CostOfRun } from './compare-runs.ts';
import { openCounts } from './counts.ts';
import { openEvaluationTables } from './evaluation-tables.ts';
import { openEvaluations } from './evaluations.ts';
import type { ListQuery, RowPlace, RunMessage, RunsMessage } from './model/messages.ts';
import { latest, pricedTurns, type Row } from './model/row.ts';
import { type RunSummary, headNumbers } from './model/summary.ts';
import { markedRows } from './marked-rows.ts';
import { mustBePlain } from './plain-files.ts';
import { type OpenRun, type Runs, withNumbers } from './runs.ts';
import { findFailure, listFacts, describeFork, readServers, listSettings } from './run-facts.ts';
import { readRollout } from './rollout-message.ts';
import { openSearches } from './searches.ts';
import { tokensMessage, type TokenDecoder } from './token-message.ts';

export interface ApiParts {
  readonly runs: Runs;
  /** The tokenizer of a run's model, or the reason why there is none. */
  readonly decoderOf: (run: OpenRun) => Promise<TokenDecoder | string>;
  readonly now: () => number;
  /** The cost of answers, where prices were given. */
  readonly costOf?: (model: string, rollouts: readonly Priced[]) => RunMessage['cost'];
  /** The page of a rollout's history in Temporal's UI, if one is known. */
  readonly historyOf?: (id: RolloutId) => string | null;
}

export function createApi({ runs, decoderOf, now, costOf, historyOf = () => null }: ApiParts): Asks {
  const countsOf = openCounts(now);
  const decoderFor = openDecoders(decoderOf);
  const searches = openSearches();
  const evaluationsOf = openEvaluations();
  const costOfRun: CostOfRun = (open) => costOf?.(open.record.settings.model, pricedRollouts(open));
  const listOf = openLists();

  /** `soon`: with the rows that a long run has by then. */
  async function opened(name: string, soon = false): Promise<OpenRun> {
    const open = await runs.open(name);
    await (soon ? open.index.refreshSoon() : open.index.refresh());
    return open;
  }

  return {
    runs: () => listRuns(runs),

    async run(name) {
      const open = await opened(name, true);
      const bare = await runs.head(open);
      const { progress } = open.index;
      const summary = await countsOf(open, bare.state === 'open' || progress.reading === true);
      const head = progress.reading ? bare : withNumbers(bare, headNumbers(summary));
      const servers = head.state === 'open' ? await readServers(open, now()) : [];
      const cost = costOfRun(open);
      const evaluations = open.record.evaluation ? await evaluationsOf(open.store.folder) : [];
      return {
        head,
        summary,
        ...(evaluations.length > 0 && { evaluations }),
        settings: listSettings(open),
        ...(await findFailure(open)),
        ...(cost !== undefined && { cost }),
        facts: listFacts(open),
        fork: describeFork(open),
        etaMs: head.state === 'open' ? etaOf(open.index.rows(), summary, now()) : null,
        newsAt: newsOf(open.index.rows()),
        progress,
        ...(servers.length > 0 && { servers }),
        now: now(),
      };
    },

    async rows(name, list, from, count) {
      const all = await listOf(await opened(name, true), list);
      return { ...cutPage(all, from, count), problems: parseFilter(list.filter).problems };
    },

    async compare(a, b) {
      const both = [await opened(a), await opened(b)] as const;
      return compareRuns(both, [await runs.head(both[0]), await runs.head(both[1])]);
    },

    async several(names) {
      const all: OpenRun[] = [];
      for (const name of names) all.push(await opened(name));
      return compareSeveral(all, await Promise.all(all.map(runs.head)), costOfRun);
    },
    evaluation: openEvaluationTables(runs, costOfRun),

    async rollout(name, place, list) {
      const open = await opened(name);
      void decoderFor(open).catch(() => {});
      const rollout = await readRollout(open, place);
      if (!rollout) throw noRollout(place);
      const history = historyOf({ run: name, ...place });
      const near = neighbours(await listOf(open, list), place);
      return { ...rollout, ...near, ...(history !== null && { history }) };
    },

    async tokens(name, place, turn) {
      const open = await runs.open(name);
      const id = { run: name, ...place };
      mustBePlain(open.store.folder, rolloutFolder(id));
      const stored = await open.store.get('turn', id, turn);
      if (!stored) throw noRollout(place, turn);
      const end = (await open.store.get('end', id))?.record;
      const decoder = decoderFor(open);
      return tokensMessage(stored.record, end?.outcome, await decoder);
    },

    async search(name, text) {
      const { store, index } = await opened(name);
      return searches.hits(store, index.progress.revision, text);
    },
  };
}

async function listRuns(runs: Runs): Promise<RunsMessage> {
  const evaluations = (await evaluationNames(runs.out)).filter(isRunName).toSorted();
  return { folder: runs.out, runs: await runs.heads(), evaluations };
}

/** A tokenizer takes seconds to load: it is begun before the first tokens are asked for. */
function openDecoders(decoderOf: ApiParts['decoderOf']): ApiParts['decoderOf'] {
  const decoders = new WeakMap<OpenRun, ReturnType<ApiParts['decoderOf']>>();
  return (open) => {
    let decoder = decoders.get(open);
    if (!decoder) decoders.set(open, (decoder = decoderOf(open)));
    return decoder;
  };
}

function pricedRollouts({ index }: OpenRun): Priced[] {
  const priced = latest(index.rows()).filter(({ steered }) => !steered);
  return priced.map((row) => ({ turns: pricedTurns(row) }));
}

/** The filtered, sorted list of a run: the last one is in memory, for the next page of it. */
function openLists(): (open: OpenRun, list: ListQuery) => Promise<readonly Row[]> {
  const lists = new WeakMap<OpenRun, { readonly key: string; readonly rows: readonly Row[] }>();
  return async (open, { filter, sort }) => {
    const marked = await markedRows(open);
    const key = JSON.stringify([marked.stamp, filter, sort]);
    const known = lists.get(open);
    if (known?.key === key) return known.rows;
    const rows = listed(marked.rows, { filter, sort });
    lists.set(open, { key, rows });
    return rows;
  };
}

/** Rollouts whose ends say how fast the run is. */
const PACE = 200;
const LEAST_ENDED = 8;

/** The time left at the pace of the last rollouts that ended; a run that stands still has no end in sight. */
function etaOf(rows: readonly Row[], { total, ended }: RunSummary, now: number): number | null {
  const ends = rows.flatMap(({ endedAt }) => endedAt ?? []).sort((a, b) => a - b);
  const last = ends.slice(-PACE);
  if (last.length < LEAST_ENDED || ended >= total) return null;
  return ((now - last[0]!) / (last.length - 1)) * (total - ended);
}

/** When the last of them went on or ended. */
function newsOf(rows: readonly Row[]): number | null {
  let last: number | null = null;
  for (const { doing, endedAt } of rows) {
    const at = doing?.since ?? endedAt;
    if (at !== null && at > (last ?? 0)) last = at;
  }
  return last;
}

function noRollout({ query, sample, attempt }: RowPlace, turn?: number): UsageError {
  const what = `query ${JSON.stringify(query)}, sample ${sample}, attempt ${attempt}`;
  return new UsageError(`There is no ${turn === undefined ? '' : `turn ${turn} of `}${what} in this run.`, {
    reason: 'no-such-rollout',
    fix: 'The list of rollouts has those that have begun.',
  });
}
