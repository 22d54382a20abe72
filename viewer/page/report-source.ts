// The messages of a report, from its parts: inside the HTML, or files beside it. Lists are filtered and sorted here.

import { parseFilter } from '../model/filter.ts';
import type { RolloutMessage, RowPlace } from '../model/messages.ts';
import { sorted } from '../model/order.ts';
import { difficulty } from '../model/queries.ts';
import {
  type Compared,
  type ReportData,
  type ReportIndex,
  type ReportRun,
  type RolloutTokens,
  sitePart,
} from '../model/report-data.ts';
import { type Row, rowKey } from '../model/row.ts';
import type { Source } from './source.ts';

/** `run`, `n`: places in ReportData. */
interface Parts {
  readonly index: ReportIndex;
  run(run: number): Promise<ReportRun>;
  rollout(run: number, n: number): Promise<RolloutMessage>;
  tokens(run: number, n: number): Promise<RolloutTokens | undefined>;
  compared(): Promise<Compared | null>;
}

export interface ReportSource extends Source {
  readonly kind: 'report';
  /** Null for a site, which is printed page by page. */
  readonly data: ReportData | null;
}

/** Undefined where the HTML holds no report: on the viewer's server. */
export async function reportSource(): Promise<ReportSource | undefined> {
  const island = document.getElementById('report');
  if (island) {
    const text = island.textContent ?? '';
    const json = island.getAttribute('type') === 'application/gzip' ? await unzipped(text) : text;
    const data = JSON.parse(json) as ReportData;
    return sourceOf(embedded(data), data);
  }
  const site = document.getElementById('site');
  return site ? sourceOf(beside(JSON.parse(site.textContent ?? '') as ReportIndex), null) : undefined;
}

async function unzipped(base64: string): Promise<string> {
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).text();
}

function embedded({ index, runs, rollouts, tokens, compared }: ReportData): Parts {
  return {
    index,
    run: async (run) => runs[run]!,
    rollout: async (run, n) => rollouts[run]![n]!,
    tokens: async (run, n) => tokens[run]?.[n],
    compared: async () => compared,
  };
}

function beside(index: ReportIndex): Parts {
  const known = new Map<string, Promise<unknown>>();
  /** Runs stay in memory, rollouts do not. */
  const once = <T>(path: string): Promise<T> => {
    const found = known.get(path) ?? part(path);
    known.set(path, found);
    found.catch(() => known.delete(path));
    return found as Promise<T>;
  };
  return {
    index,
    run: (run) => once(sitePart.run(run)),
    rollout: (run, n) => part(sitePart.rollout(run, n)),
    tokens: (run, n) => part<RolloutTokens>(sitePart.tokens(run, n)).catch(() => undefined),
    compared: () => (index.compared === null ? Promise.resolve(null) : once(sitePart.compared)),
  };
}

async function part<T>(path: string): Promise<T> {
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

function sourceOf(parts: Parts, data: ReportData | null): ReportSource {
  const { heads, left, compared } = parts.index;
  const placeOf = (name: string): number => {
    const at = heads.findIndex((head) => head.run === name);
    if (at < 0) throw new Error(`This report is of ${heads.map((head) => head.run).join(' and ')}.`);
    return at;
  };
  const partOf = async (name: string): Promise<ReportRun> => parts.run(placeOf(name));
  return {
    kind: 'report',
    data,
    left,
    steer: null,
    search: null,
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
      const found = await parts.rollout(placeOf(name), n);
      const here = new Set(whole);
      const all = listed(rows, query).filter((row) => here.has(rowKey(row)));
      const at = all.findIndex((row) => rowKey(row) === rowKey(place));
      const near = (i: number): RowPlace | null => (at < 0 ? null : (all[i] ?? null));
      const samples = rows.filter((row) => row.query === place.query && here.has(rowKey(row)));
      return { ...found, samples, previous: near(at - 1), next: near(at + 1) };
    },
    async tokens(name, place, turn) {
      const { whole } = await partOf(name);
      const found = (await parts.tokens(placeOf(name), whole.indexOf(rowKey(place))))?.[turn];
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
      const found = compared?.[0] === a && compared[1] === b ? await parts.compared() : null;
      if (found) return found[cell ?? 'all'];
      const what = compared ? `compares ${compared[0]} with ${compared[1]}` : 'compares no runs';
      throw new Error(`This report ${what}: \`everturn report a --compare b\` makes one that does.`);
    },
  };
}

const listed = (rows: readonly Row[], { filter, sort }: { filter: string; sort: string }): readonly Row[] =>
  sorted(filter.trim() === '' ? rows : rows.filter(parseFilter(filter).holds), sort);
