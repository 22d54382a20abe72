// Two runs, query by query, and several in one table: the comparison of `everturn compare` on the rows of the viewer. Only the same id with the
// same prompt is paired.

import {
  type ComparedRun,
  comparison,
  type QueryIdentity,
  settingDifferences,
} from '../domain/statistics/comparison.ts';
import { distributionOf } from '../domain/statistics/mean.ts';
import { known } from '../domain/statistics/outcomes.ts';
import { sideBySide } from '../domain/statistics/side-by-side.ts';
import { queryDigests } from '../records/run/queries.ts';
import { inParts } from './in-batches.ts';
import type { CompareMessage, ComparedHead, RunHead, RunMessage, SeveralMessage } from './model/messages.ts';
import { addUp, endsRight, latest, type Row, rowMs, rowTokens } from './model/row.ts';
import { headNumbers, summaries, summaryInParts } from './model/summary.ts';
import { type OpenRun, withNumbers } from './runs.ts';

/** Pairs of each cell that are sent. */
export const MOST_PAIRS = 500;
const identities = new WeakMap<OpenRun, Promise<ReadonlyMap<string, QueryIdentity>>>();

export async function compareRuns(
  [a, b]: readonly [OpenRun, OpenRun],
  [headA, headB]: readonly [RunHead, RunHead],
): Promise<CompareMessage> {
  const [queriesA, queriesB] = await Promise.all([identitiesOf(a), identitiesOf(b)]);
  const atTurn = Math.min(a.record.settings.numTurns, b.record.settings.numTurns);
  const { pairs, ...numbers } = comparison(comparedRun(a, queriesA), comparedRun(b, queriesB), { atTurn });
  // Stable: equal differences stay in data set order.
  const furthest = pairs.toSorted((x, y) => Math.abs(y.b - y.a) - Math.abs(x.b - x.a));
  const taken = { both: 0, 'only-a': 0, 'only-b': 0, neither: 0 };
  const titles = new Map(a.index.rows().map(({ query, title }) => [query, title]));
  return {
    a: headA,
    b: headB,
    numbers,
    paired: pairs.length,
    pairs: furthest
      .filter(({ cell }) => taken[cell!]++ < MOST_PAIRS)
      .map((pair) => ({ ...pair, title: titles.get(pair.query) ?? '' })),
    settings: settingDifferences(settingsOf(a), settingsOf(b)).map(({ name, a, b }) => ({
      name,
      a: shown(a),
      b: shown(b),
    })),
    tokens: [tokens(a), tokens(b)],
  };
}

export type CostOfRun = (open: OpenRun) => RunMessage['cost'];

/** Each against the first. */
export async function compareSeveral(
  runs: readonly OpenRun[],
  heads: readonly RunHead[],
  costOf: CostOfRun,
): Promise<SeveralMessage> {
  const compared = [];
  for (const open of runs) compared.push({ ...comparedRun(open, await identitiesOf(open)), shape: open.shape });
  const atTurns = sideBySide(compared);
  const all = runs.map(settingsOf);
  const differ = new Set(all.flatMap((own) => settingDifferences(all[0]!, own).map(({ name }) => name)));
  // Derived from the run's name, unless somebody chose it.
  if (differ.size > 1) differ.delete('seed');
  const found: ComparedHead[] = [];
  for (const [i, open] of runs.entries()) {
    const rows = open.index.rows();
    const turns = rows.map((row) => row.turns);
    const numbers = headNumbers(await inParts(summaryInParts(rows, open.shape)));
    const cost = costOf(open);
    found.push({
      ...{ head: withNumbers(heads[i]!, numbers), atTurns: atTurns[i]!, wrong: wrongIn(rows) },
      settings: [...differ].map((name) => [name, shown(all[i]![name])] as const),
      tokensIn: distributionOf(known(turns.flatMap(({ context }) => context))).mean,
      tokens: distributionOf(known(turns.flatMap(({ tokens: of }) => of))).mean,
      ms: distributionOf(turns.flatMap(({ ms }) => ms)).p50,
      tookMs: tookMs(rows),
      ...(cost !== undefined && { cost }),
    });
  }
  return { runs: found };
}

/** As near to `tookSeconds` of `everturn eval` as rows tell: they have no starts of turns. */
function tookMs(rows: readonly Row[]): number | null {
  let [from, to] = [Infinity, -Infinity];
  for (const row of rows) {
    if (row.endedAt === null || row.turns.ms.length === 0) continue;
    [from, to] = [Math.min(from, row.endedAt - rowMs(row)), Math.max(to, row.endedAt)];
  }
  return to < from ? null : to - from;
}

function wrongIn(rows: readonly Row[]): ComparedHead['wrong'] {
  const counted = latest(rows).filter(({ steered, state }) => !steered && state !== 'open');
  const judged = counted.filter(({ success }) => success.some((s) => s !== null));
  return {
    first: counted.filter(({ success: [first] }) => first === 0).length,
    last: judged.filter((row) => !endsRight(row)).length,
  };
}

const settingsOf = ({ record }: OpenRun): Readonly<Record<string, unknown>> => ({
  ...record.settings,
  ...record.wording,
});

const comparedRun = ({ index, record }: OpenRun, queries: ComparedRun['queries']): ComparedRun => ({
  ...{ rollouts: summaries(index.rows()), queries, wording: record.wording },
});

export const shown = (value: unknown): string =>
  value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value);

/** Output tokens of a rollout, on average, of those that were looked at. */
function tokens({ index }: OpenRun): number | null {
  const known = index.rows().flatMap((row) => rowTokens(row) ?? []);
  return known.length === 0 ? null : addUp(known) / known.length;
}

function identitiesOf(open: OpenRun): Promise<ReadonlyMap<string, QueryIdentity>> {
  let found = identities.get(open);
  if (!found) {
    found = collect(open);
    identities.set(open, found);
    // The queries of a run without a data set come one by one.
    if (open.total === 0) void found.finally(() => identities.delete(open)).catch(() => {});
  }
  return found;
}

async function collect({ store }: OpenRun): Promise<ReadonlyMap<string, QueryIdentity>> {
  const all = new Map<string, QueryIdentity>();
  for await (const { query, ...identity } of queryDigests(store)) all.set(query, identity);
  return all;
}
