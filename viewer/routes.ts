// The paths of the viewer's server in one table, each with the message that answers it, and the parameters that they take in
// another. Every part of a path is a name that is looked up among the runs and their rollouts, never a path of the file
// system.

import { CELLS } from '../statistics/comparison.ts';
import { type Api, MOST_ROWS } from './api.ts';
import { Refusal } from './guard.ts';
import { KINDS } from './model/queries.ts';
import { placeOf } from './model/row.ts';

/** Reads a parameter, or throws what it has to be. */
type Read<T> = (text: string | null) => T;

const whole =
  (fallback: number, most: number): Read<number> =>
  (text) => {
    if (text === null) return fallback;
    if (/^\d{1,10}$/.test(text) && Number(text) <= most) return Number(text);
    throw new RangeError(`is a whole number of at most ${most}`);
  };
const upTo =
  (most: number): Read<string> =>
  (text) => {
    if (text === null || text.length <= most) return text ?? '';
    throw new RangeError(`has at most ${most} characters`);
  };
const oneOf =
  <T extends string, const F>(known: readonly T[], fallback: F): Read<T | F> =>
  (text) => {
    const found = known.find((one) => one === text);
    if (text === null || found !== undefined) return found ?? fallback;
    throw new RangeError(`is one of ${known.join(', ')}`);
  };

const PARAMETERS = {
  ...{ filter: upTo(2_000), sort: upTo(40), text: upTo(500), query: upTo(100_000) },
  ...{ from: whole(0, 1e9), count: whole(100, MOST_ROWS) },
  ...{ sample: whole(0, 1e9), attempt: whole(1, 1e9), turn: whole(1, 1e6) },
  ...{ kind: oneOf(KINDS, 'all'), cell: oneOf(CELLS, null) },
} as const;
type Parameters = { readonly [K in keyof typeof PARAMETERS]: ReturnType<(typeof PARAMETERS)[K]> };
type Answer = (from: Api, run: string, given: Parameters) => Promise<unknown>;

/** Behind `/api/run/<run>`. A parameter that a path does not take means nothing to it. */
const OF_RUN: Readonly<Record<string, Answer>> = {
  '': ({ run }, name) => run(name),
  rows: ({ rows }, run, { from, count, ...list }) => rows(run, list, from, count),
  queries: ({ queries }, run, { kind, from, count }) => queries(run, kind, from, count),
  rollout: ({ rollout }, run, given) => rollout(run, placeOf(given), given),
  tokens: ({ tokens }, run, given) => tokens(run, placeOf(given), given.turn),
  search: ({ search }, run, { text: wanted }) => {
    if (wanted === '') throw new Refusal(400, '`text` is empty: nothing is looked for.');
    return search(run, wanted);
  },
};

const MOST_RUNS = 32;

export async function answerTo(from: Api, url: URL): Promise<unknown> {
  const [root, kind, ...names] = url.pathname.split('/').slice(1).map(decoded);
  const given = parametersOf(url);
  const [first = '', second = ''] = names;
  if (root === 'api' && kind === 'runs' && names.length === 0) return from.runs();
  if (root === 'api' && kind === 'compare' && names.length === 2) return from.compare(first, second, given.cell);
  if (root === 'api' && kind === 'several' && names.length > 1 && names.length <= MOST_RUNS) return from.several(names);
  const answer = Object.hasOwn(OF_RUN, second) ? OF_RUN[second] : undefined;
  if (root === 'api' && kind === 'run' && first !== '' && names.length <= 2 && answer)
    return answer(from, first, given);
  throw new Refusal(404, `The viewer has nothing at ${JSON.stringify(url.pathname.slice(0, 100))}.`);
}

function parametersOf({ searchParams }: URL): Parameters {
  const read = ([name, of]: readonly [string, Read<unknown>]) => {
    try {
      return [name, of(searchParams.get(name))];
    } catch (error) {
      throw new Refusal(400, `\`${name}\` ${(error as Error).message}.`);
    }
  };
  return Object.fromEntries(Object.entries(PARAMETERS).map(read)) as unknown as Parameters;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Refusal(400, 'The path is not well encoded.');
  }
}
