// The paths of the viewer's server, each with the message that answers it. Every part of a path is a name that is looked
// up among the runs and their rollouts, never a path of the file system.

import type { Api } from './api.ts';
import { MOST_ROWS } from './api.ts';
import { CELLS } from '../statistics/comparison.ts';
import { type Extras, RECORDS } from './extras.ts';
import { Refusal } from './guard.ts';
import type { ListQuery, RowPlace } from './model/messages.ts';
import { KINDS } from './model/queries.ts';

const MOST_FILTER_CHARS = 2_000;

export async function answerTo(api: Api, url: URL, extras?: Extras): Promise<unknown> {
  const parts = url.pathname.split('/').slice(1).map(decoded);
  const [root, kind, run = '', what, ...more] = parts;
  if (root !== 'api') throw nothing(url);
  if (kind === 'runs' && parts.length === 2) return api.runs();
  if (kind === 'compare' && run !== '' && what !== undefined && more.length === 0) {
    return api.compare(run, what, oneOf(url, 'cell', CELLS));
  }
  if (kind !== 'run' || run === '') throw nothing(url);
  const list = listOf(url);
  if (what === undefined) return api.run(run);
  if (what === 'rows' && more.length === 0) {
    return api.rows(run, list, whole(url, 'from', 0, 1e9), whole(url, 'count', 200, MOST_ROWS));
  }
  if (what === 'queries' && more.length === 0) {
    const kind = oneOf(url, 'kind', KINDS) ?? 'all';
    return api.queries(run, kind, whole(url, 'from', 0, 1e9), whole(url, 'count', 100, MOST_ROWS));
  }
  if (what === 'rollout' && more.length === 0) return api.rollout(run, placeOf(url), list);
  if (what === 'tokens' && more.length === 0) return api.tokens(run, placeOf(url), whole(url, 'turn', 1, 1e6));
  if (what === 'search' && more.length === 0) return api.search(run, textOf(url));
  if (!extras || more.length > 0) throw nothing(url);
  if (what === 'record')
    return extras.record(run, placeOf(url), oneOf(url, 'of', RECORDS) ?? 'turn', whole(url, 'turn', 1, 1e6));
  if (what === 'sample') return extras.sample(run, placeOf(url));
  if (what === 'check') return extras.check(run, url.searchParams.get('begin') === '1');
  throw nothing(url);
}

const MOST_TEXT_CHARS = 500;

function textOf(url: URL): string {
  const text = url.searchParams.get('text') ?? '';
  if (text === '' || text.length > MOST_TEXT_CHARS)
    throw new Refusal(400, `\`text\` has 1 to ${MOST_TEXT_CHARS} characters.`);
  return text;
}

function listOf(url: URL): ListQuery {
  const filter = url.searchParams.get('filter') ?? '';
  if (filter.length > MOST_FILTER_CHARS)
    throw new Refusal(400, `A filter has at most ${MOST_FILTER_CHARS} characters.`);
  return { filter, sort: (url.searchParams.get('sort') ?? '').slice(0, 40) };
}

function placeOf(url: URL): RowPlace {
  return {
    query: url.searchParams.get('query') ?? '',
    sample: whole(url, 'sample', 0, 1e9),
    attempt: whole(url, 'attempt', 1, 1e9),
  };
}

function oneOf<T extends string>(url: URL, name: string, known: readonly T[]): T | null {
  const text = url.searchParams.get(name);
  const found = known.find((one) => one === text);
  if (text === null || found !== undefined) return found ?? null;
  throw new Refusal(400, `\`${name}\` is one of ${known.join(', ')}.`);
}

function whole(url: URL, name: string, fallback: number, most: number): number {
  const text = url.searchParams.get(name);
  if (text === null) return fallback;
  if (/^\d{1,10}$/.test(text) && Number(text) <= most) return Number(text);
  throw new Refusal(400, `\`${name}\` is a whole number of at most ${most}.`);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Refusal(400, 'The path is not well encoded.');
  }
}

function nothing(url: URL): Refusal {
  return new Refusal(404, `The viewer has nothing at ${JSON.stringify(url.pathname.slice(0, 100))}.`);
}
