// The messages of a report, from its parts inside the HTML. Lists are filtered and sorted here.

import { parseFilter } from '../model/filter.ts';
import type { ListQuery, RolloutMessage, RowPlace } from '../model/messages.ts';
import { sorted } from '../model/order.ts';
import { difficulty } from '../model/queries.ts';
import { type Compared, PART, type ReportData, type ReportRun, type RolloutTokens } from '../model/report-data.ts';
import { type Row, rowKey } from '../model/row.ts';
import type { Source } from './source.ts';

export interface ReportSource extends Source {
  readonly kind: 'report';
  /** The run that it is about. */
  readonly first: string;
}

/** Undefined where the HTML holds no report: on the viewer's server. */
export async function reportSource(): Promise<ReportSource | undefined> {
  const island = document.getElementById('report');
  if (!island) return undefined;
  const text = island.textContent ?? '';
  return sourceOf(
    JSON.parse(island.getAttribute('type') === 'application/gzip' ? await unzipped(text) : text) as ReportData,
  );
}

async function unzipped(base64: string): Promise<string> {
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).text();
}

function sourceOf(data: ReportData): ReportSource {
  const { heads, left, compared } = data.index;
  const placeOf = (name: string): number => {
    const at = heads.findIndex((head) => head.run === name);
    if (at < 0) throw new Error(`This report is of ${heads.map((head) => head.run).join(' and ')}.`);
    return at;
  };
  const partOf = (name: string) => data.parts[PART.run(placeOf(name))] as ReportRun;
  return {
    kind: 'report',
    first: heads[0]!.run,
    left,
    steer: null,
    search: null,
    several: null,
    compared,
    runs: async () => ({ folder: '', runs: heads }),
    run: async (name) => partOf(name).run,
    async rows(name, query, from, count) {
      const { rows } = partOf(name);
      const all = listed(rows, query);
      const { problems } = parseFilter(query.filter);
      return { from, count: all.length, rows: all.slice(from, from + count), problems };
    },
    async rollout(name, place, query) {
      const { rows, whole } = partOf(name);
      const n = whole.indexOf(rowKey(place));
      if (n < 0) throw new Error('The turns of this rollout are not in this report; `everturn view` shows them.');
      const found = data.parts[PART.rollout(placeOf(name), n)] as RolloutMessage;
      const here = new Set(whole);
      const all = listed(rows, query).filter((row) => here.has(rowKey(row)));
      const at = all.findIndex((row) => rowKey(row) === rowKey(place));
      const near = (i: number): RowPlace | null => (at < 0 ? null : (all[i] ?? null));
      const samples = rows.filter((row) => row.query === place.query && here.has(rowKey(row)));
      return { ...found, samples, previous: near(at - 1), next: near(at + 1) };
    },
    async tokens(name, place, turn) {
      const { whole } = partOf(name);
      const part = PART.tokens(placeOf(name), whole.indexOf(rowKey(place)));
      const found = (data.parts[part] as RolloutTokens | undefined)?.[turn];
      if (!found) throw new Error('Its tokens are not in this report: `everturn report --tokens` takes them along.');
      return found;
    },
    async queries(name, kind, from, count) {
      const { run, rows, queries } = partOf(name);
      const { rows: all, ...message } = difficulty(rows, kind, run.head.numTurns);
      // Of a long run the list is a part, and the counts are of all.
      const counts = rows.length < run.summary.begun ? { ...message, ...queries } : message;
      return { ...counts, from, count: all.length, rows: all.slice(from, from + count) };
    },
    async compare(a, b, cell) {
      if (compared?.[0] === a && compared[1] === b) return (data.parts[PART.compared] as Compared)[cell ?? 'all'];
      const what = compared ? `compares ${compared[0]} with ${compared[1]}` : 'compares no runs';
      throw new Error(`This report ${what}: \`everturn report a --compare b\` makes one that does.`);
    },
  };
}

const listed = (rows: readonly Row[], { filter, sort }: ListQuery): readonly Row[] =>
  sorted(filter.trim() === '' ? rows : rows.filter(parseFilter(filter).holds), sort);
