// The address of a page as its hash: everything that is seen is in it, so a copied address shows the same. The server
// and the report have the same addresses. An address that names no page leads to the list of runs.

import { type Cell, CELLS } from '../../domain/statistics/comparison.ts';
import type { RowPlace } from '../model/messages.ts';
import { rowPlace } from '../model/row.ts';

interface List {
  readonly filter: string;
  readonly sort: string;
}

export type RunTab = 'overview' | 'rollouts' | 'live' | 'search';

export type Route =
  | ({
      readonly page: 'runs';
      /** A run to be compared, on the page of one of its queries or as a whole. */
      readonly compare?: { readonly run: string; readonly query: string | null; readonly sample: number };
    } & List)
  | ({ readonly page: 'run'; readonly run: string; readonly tab: RunTab } & List)
  | ({
      readonly page: 'rollout';
      readonly run: string;
      readonly place: RowPlace;
      /** Null: the first, and none is scrolled to. */
      readonly turn: number | null;
      readonly tokens: boolean;
      /** The chosen cell. */
      readonly token: number | null;
    } & List)
  | {
      readonly page: 'compare';
      readonly a: string;
      readonly b: string;
      readonly cell: Cell | null;
      /** The query whose rollouts are shown side by side. */
      readonly beside: { readonly query: string; readonly sample: number } | null;
    }
  | { readonly page: 'several'; readonly runs: readonly string[] }
  | { readonly page: 'evaluation'; readonly name: string };

export type RunsRoute = Extract<Route, { page: 'runs' }>;
export type RunRoute = Extract<Route, { page: 'run' }>;
export type RolloutRoute = Extract<Route, { page: 'rollout' }>;
export type CompareRoute = Extract<Route, { page: 'compare' }>;
export type SeveralRoute = Extract<Route, { page: 'several' }>;
export type EvaluationRoute = Extract<Route, { page: 'evaluation' }>;

const TABS: readonly RunTab[] = ['overview', 'rollouts', 'live', 'search'];

export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?');
  const parts = path.split('/').map(decoded);
  const params = new URLSearchParams(search);
  const list = { filter: params.get('f') ?? '', sort: params.get('s') ?? '' };
  const [kind, run = '', tab = 'overview', query, sample, , turn, tok, token] = parts;
  if (kind === 'compare' && parts[1] && parts[2]) {
    const cell = CELLS.find((known) => known === parts[3]) ?? null;
    const [q, asked, n] = parts.slice(cell === null ? 3 : 4);
    const beside = q === 'q' && asked ? { query: asked, sample: number(n) ?? 0 } : null;
    return { page: 'compare', a: parts[1], b: parts[2], cell, beside };
  }
  const runs = parts.slice(1).filter((name) => name !== '');
  if (kind === 'several' && runs.length > 1) return { page: 'several', runs };
  if (kind === 'eval' && run !== '') return { page: 'evaluation', name: run };
  if (kind !== 'run' || run === '') {
    const compared = params.get('compare') ?? '';
    const compare = { run: compared, query: params.get('q'), sample: number(params.get('n') ?? undefined) ?? 0 };
    return { page: 'runs', ...list, ...(compared !== '' && { compare }) };
  }
  if (tab === 'q' && query !== undefined && query !== '') {
    const [s = '', attempt = '1'] = (sample ?? '0').split('.');
    const place = { query, sample: number(s) ?? 0, attempt: number(attempt) ?? 1 };
    return {
      page: 'rollout',
      run,
      place,
      turn: number(turn),
      tokens: tok === 'tok',
      token: number(token),
      ...list,
    };
  }
  return { page: 'run', run, tab: TABS.find((known) => known === tab) ?? 'overview', ...list };
}

export function hrefOf(route: Route): string {
  if (route.page === 'compare') {
    const { a, b, cell, beside } = route;
    const q = beside === null ? '' : `/q/${enc(beside.query)}${beside.sample > 0 ? `/${beside.sample}` : ''}`;
    return `#/compare/${enc(a)}/${enc(b)}${cell === null ? '' : `/${cell}`}${q}`;
  }
  if (route.page === 'several') return severalHref(route.runs);
  if (route.page === 'evaluation') return evaluationHref(route.name);
  const { run: compare, query: q, sample: n = 0 } = (route.page === 'runs' && route.compare) || {};
  const all = { f: route.filter, s: route.sort, compare, q, n: n > 0 ? String(n) : '' };
  const params = new URLSearchParams(Object.entries(all).filter((one): one is [string, string] => Boolean(one[1])));
  const search = params.size > 0 ? `?${params.toString()}` : '';
  if (route.page === 'runs') return `#/${search}`;
  const base = `#/run/${enc(route.run)}`;
  if (route.page === 'run') return `${base}${route.tab === 'overview' ? '' : `/${route.tab}`}${search}`;
  const { query, sample, attempt } = route.place;
  const turn = route.turn === null && !route.tokens ? '' : `/t/${route.turn ?? 1}`;
  const token = route.tokens ? `/tok${route.token === null ? '' : `/${route.token}`}` : '';
  return `${base}/q/${enc(query)}/${sample}${attempt > 1 ? `.${attempt}` : ''}${turn}${token}${search}`;
}

export const runsHref = (given: Partial<Omit<RunsRoute, 'page'>>): string =>
  hrefOf({ page: 'runs', filter: '', sort: '', ...given });

/** `list`: the one that its neighbours are of. */
export function rolloutRoute(
  run: string,
  place: RowPlace,
  { turn = null, filter = '', sort = '' }: Partial<List> & { readonly turn?: number | null } = {},
): RolloutRoute {
  return { page: 'rollout', run, place: rowPlace(place), turn, tokens: false, token: null, filter, sort };
}

export const rolloutHref = (run: string, place: RowPlace, { filter = '', sort = '' }: Partial<List> = {}): string =>
  hrefOf(rolloutRoute(run, place, { filter, sort }));

export const runHref = (run: string, tab: RunTab = 'overview', filter = '', sort = ''): string =>
  hrefOf({ page: 'run', run, tab, filter, sort });

export const listHref = (run: string, filter = '', sort = ''): string => runHref(run, 'rollouts', filter, sort);

export const severalHref = (runs: readonly string[]): string => `#/several/${runs.map(enc).join('/')}`;

export const evaluationHref = (name: string): string => `#/eval/${enc(name)}`;

interface At {
  readonly query: string | null;
  readonly sample: number;
}

/** `at`: side by side at this query. */
export const compareHref = (a: string, b: string, { query, sample }: At = { query: null, sample: 0 }): string =>
  hrefOf({ ...{ page: 'compare', a, b, cell: null }, beside: query === null ? null : { query, sample } });

/** The comparison of this run: with the other one that a report holds, or with one that is to be chosen. */
export const comparedHref = (
  compared: readonly [a: string, b: string] | null,
  run: string,
  at: At = { query: null, sample: 0 },
): string => (compared?.includes(run) ? compareHref(...compared, at) : runsHref({ compare: { run, ...at } }));

const enc = encodeURIComponent;

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function number(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : null;
}
