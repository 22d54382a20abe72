// The messages of a report, from its parts: inside the HTML, or files beside it. Lists are filtered and sorted here.

import { parseFilter } from '../model/filter.ts';
import type { ListQuery, RolloutMessage, RowPlace } from '../model/messages.ts';
import { sorted } from '../model/order.ts';
import { difficulty } from '../model/queries.ts';
import {
  type Compared,
  PART,
  type ReportData,
  type ReportIndex,
  type ReportRun,
  type RolloutTokens,
} from '../model/report-data.ts';
import { type Row, rowKey } from '../model/row.ts';
import type { Source } from './source.ts';

export interface ReportSource extends Source {
  readonly kind: 'report';
  /** The run that it is about. */
  readonly first: string;
  /** Null for a site, which is printed page by page. */
  readonly data: ReportData | null;
}

/** Reads a part by its name. */
type Read = <T>(name: string) => Promise<T>;

/** Undefined where the HTML holds no report: on the viewer's server. */
export async function reportSource(): Promise<ReportSource | undefined> {
  const island = document.getElementById('report');
  if (island) {
    const text = island.textContent ?? '';
    const json = island.getAttribute('type') === 'application/gzip' ? await unzipped(text) : text;
    const data = JSON.parse(json) as ReportData;
    return sourceOf(data.index, async <T>(name: string) => data.parts[name] as T, data);
  }
  const site = document.getElementById('site');
  return site ? sourceOf(JSON.parse(site.textContent ?? '') as ReportIndex, fetched, null) : undefined;
}

async function unzipped(base64: string): Promise<string> {
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).text();
}

async function fetched<T>(path: string): Promise<T> {
  const response = await fetch(path).catch(() => {
    throw new Error(
      location.protocol === 'file:'
        ? 'A site needs a web server, because a browser reads no other files from disk. `everturn report` without --site makes one file that opens from disk.'
        : `${path} cannot be read: the host does not answer.`,
    );
  });
  if (!response.ok) throw new Error(`${path} is not on this host (${response.status}): copy the whole folder.`);
  return (await response.json()) as T;
}

function sourceOf({ heads, left, compared }: ReportIndex, read: Read, data: ReportData | null): ReportSource {
  /** Runs stay in memory, rollouts do not. */
  const known = new Map<string, Promise<ReportRun>>();
  const placeOf = (name: string): number => {
    const at = heads.findIndex((head) => head.run === name);
    if (at < 0) throw new Error(`This report is of ${heads.map((head) => head.run).join(' and ')}.`);
    return at;
  };
  const partOf = async (name: string): Promise<ReportRun> => {
    const run = known.get(name) ?? read<ReportRun>(PART.run(placeOf(name)));
    known.set(name, run);
    run.catch(() => known.delete(name));
    return run;
  };
  return {
    kind: 'report',
    first: heads[0]!.run,
    data,
    left,
    steer: null,
    search: null,
    several: null,
    recordHref: null,
    sampleHref: null,
    check: null,
    compared,
    runs: async () => ({ folder: '', runs: heads }),
    run: async (name) => (await partOf(name)).run,
    async rows(name, query, from, count) {
      const { rows } = await partOf(name);
      const all = listed(rows, query);
      const { problems } = parseFilter(query.filter);
      return { from, count: all.length, rows: all.slice(from, from + count), problems };
    },
    async rollout(name, place, query) {
      const { rows, whole } = await partOf(name);
      const n = whole.indexOf(rowKey(place));
      if (n < 0) throw new Error('The turns of this rollout are not in this report; `everturn view` shows them.');
      const found = await read<RolloutMessage>(PART.rollout(placeOf(name), n));
      const here = new Set(whole);
      const all = listed(rows, query).filter((row) => here.has(rowKey(row)));
      const at = all.findIndex((row) => rowKey(row) === rowKey(place));
      const near = (i: number): RowPlace | null => (at < 0 ? null : (all[i] ?? null));
      const samples = rows.filter((row) => row.query === place.query && here.has(rowKey(row)));
      return { ...found, samples, previous: near(at - 1), next: near(at + 1) };
    },
    async tokens(name, place, turn) {
      const { whole } = await partOf(name);
      const part = PART.tokens(placeOf(name), whole.indexOf(rowKey(place)));
      const found = (await read<RolloutTokens | undefined>(part).catch(() => undefined))?.[turn];
      if (!found) throw new Error('Its tokens are not in this report: `everturn report --tokens` takes them along.');
      return found;
    },
    async queries(name, kind, from, count) {
      const { run, rows, queries } = await partOf(name);
      const { rows: all, ...message } = difficulty(rows, kind, run.head.numTurns);
      // Of a long run the list is a part, and the counts are of all.
      const counts = rows.length < run.summary.begun ? { ...message, ...queries } : message;
      return { ...counts, from, count: all.length, rows: all.slice(from, from + count) };
    },
    async compare(a, b, cell) {
      if (compared?.[0] === a && compared[1] === b) return (await read<Compared>(PART.compared))[cell ?? 'all'];
      const what = compared ? `compares ${compared[0]} with ${compared[1]}` : 'compares no runs';
      throw new Error(`This report ${what}: \`everturn report a --compare b\` makes one that does.`);
    },
  };
}

const listed = (rows: readonly Row[], { filter, sort }: ListQuery): readonly Row[] =>
  sorted(filter.trim() === '' ? rows : rows.filter(parseFilter(filter).holds), sort);
