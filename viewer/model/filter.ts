// The list of rollouts: its filter, its order, its pages, and the neighbours of a row. Pure. A filter is words that occur in the
// id or the question, and facts such as `outcome:failed`, `tokens>2000`, `right@1:no`; all parts must hold, and one that cannot
// be read is an error that says what can. Rows whose fact is unknown are last, whatever the direction; equal rows stay in data
// set order.

import { isOfCategory } from '../../domain/rollout/rollout-row.ts';
import { endsRight, rowMs, type Row, rowTokens, rowPlace, rowKey } from './row.ts';
import type { ListQuery, Page, RolloutMessage, RowPlace } from './messages.ts';

export interface Filter {
  readonly holds: (row: Row) => boolean;
  /** One line per part that cannot be read. */
  readonly problems: readonly string[];
}

/** Facts with a number, compared by `:`, `=`, `>`, `>=`, `<`, `<=`. Null: not known, so nothing holds. */
const NUMBERS: Readonly<Record<string, (row: Row) => number | null>> = {
  turns: (row) => row.success.length,
  tokens: rowTokens,
  seconds: (row) => rowMs(row) / 1000,
  sample: (row) => row.sample,
  attempt: (row) => row.attempt,
  version: (row) => row.turns.versions && row.turns.versions[1],
  return: (row) => row.reward,
};

const FINISH: Readonly<Record<string, string>> = { stop: 's', length: 'l', abort: 'a', unknown: 'u' };

/** Facts with a name, compared by `:`. */
const NAMES: Readonly<Record<string, (row: Row, wanted: string) => boolean>> = {
  id: (row, wanted) => row.query.toLowerCase() === wanted,
  outcome: (row, wanted) => row.state === wanted,
  stop: (row, wanted) => row.stop === wanted,
  reason: (row, wanted) => row.reason === wanted || row.turns.reasons.includes(wanted),
  finish: (row, wanted) => row.turns.finish.includes(FINISH[wanted] ?? '?'),
  server: (row, wanted) => row.turns.server?.toLowerCase().includes(wanted) ?? false,
  found: (row, wanted) => row.turns.extracted?.toLowerCase().includes(wanted) ?? false,
  category: isOfCategory,
  has: (row, wanted) => HAS[wanted]?.(row) ?? false,
};

/** The shapes of a whole rollout that `has:` knows. */
const HAS: Readonly<Record<string, (row: Row) => boolean>> = {
  repair: ({ success }) => success.some((s, i) => s === 1 && success[i - 1] === 0),
  spoil: ({ success }) => success.some((s, i) => s === 0 && success[i - 1] === 1),
  flaw: ({ flaw }) => flaw !== undefined,
  message: ({ steered }) => steered === true,
  note: ({ marks }) => marks?.includes('note') ?? false,
  verdict: ({ marks }) => marks?.includes('verdict') ?? false,
  retry: ({ marks }) => marks?.includes('retry') ?? false,
};

const YES: Readonly<Record<string, 0 | 1>> = { yes: 1, no: 0 };

/** A word may be quoted: `"carry the one"`. */
const PART = /[^\s"]*"[^"]*"?|\S+/g;
const MAX_PARTS = 40;

export function parseFilter(text: string): Filter {
  const tests: ((row: Row) => boolean)[] = [];
  const problems: string[] = [];
  for (const [part] of [...text.matchAll(PART)].slice(0, MAX_PARTS)) {
    const plain = part.replaceAll('"', '');
    // Quoted as a whole it is a word, whatever it holds.
    const test = part.startsWith('"') ? inWords(plain) : parsePart(plain);
    if (typeof test === 'string') problems.push(test);
    else tests.push(test);
  }
  return { holds: (row) => tests.every((test) => test(row)), problems };
}

function parsePart(part: string): ((row: Row) => boolean) | string {
  const not = part.startsWith('-') && part.length > 1;
  const test = parsePlain(not ? part.slice(1) : part);
  return not && typeof test !== 'string' ? (row) => !test(row) : test;
}

function parsePlain(part: string): ((row: Row) => boolean) | string {
  const found = /^([a-z]+)(?:@(\d{1,6}|T))?(:|>=|<=|>|<|=)(.*)$/s.exec(part);
  if (!found) return inWords(part);
  const [, name = '', at, sign = ':', value = ''] = found;
  const wanted = value.toLowerCase();
  if (at !== undefined) return name === 'right' ? rightAt(at, wanted) : `${part}: only \`right\` takes @turn.`;
  if (Object.hasOwn(NUMBERS, name)) {
    const limit = Number(wanted);
    if (wanted === '' || !Number.isFinite(limit)) return `${part}: \`${name}\` takes a number.`;
    return (row) => {
      const value = NUMBERS[name]!(row);
      return value !== null && SIGNS[sign]!(value, limit);
    };
  }
  if (!Object.hasOwn(NAMES, name)) {
    // Questions hold colons and signs too.
    return sign === ':' && /^[a-z]+$/.test(name) && wanted !== '' ? unknown(part, name) : inWords(part);
  }
  if (sign !== ':' && sign !== '=') return `${part}: \`${name}\` takes a name, as in \`${name}:…\`.`;
  if (name === 'has' && !Object.hasOwn(HAS, wanted)) return `${part}: \`has\` knows ${Object.keys(HAS).join(', ')}.`;
  return (row) => NAMES[name]!(row, wanted);
}

function rightAt(at: string, wanted: string): ((row: Row) => boolean) | string {
  const value = Object.hasOwn(YES, wanted) ? YES[wanted] : undefined;
  if (value === undefined) return `right@${at}:${wanted}: say yes or no.`;
  if (at === 'T') return (row) => row.success.some((s) => s !== null) && endsRight(row) === (value === 1);
  return (row) => row.success[Number(at) - 1] === value;
}

function inWords(part: string): (row: Row) => boolean {
  const word = part.toLowerCase();
  return (row) => row.query.toLowerCase().includes(word) || row.title.toLowerCase().includes(word);
}

function unknown(part: string, name: string): string {
  const all = [...Object.keys(NAMES), ...Object.keys(NUMBERS), 'right@1', 'right@T'];
  return `${part}: there is no fact \`${name}\`. There are ${all.join(', ')}; quote a word that holds a colon.`;
}

const SIGNS: Readonly<Record<string, (value: number, limit: number) => boolean>> = {
  ':': (value, limit) => value === limit,
  '=': (value, limit) => value === limit,
  '>': (value, limit) => value > limit,
  '>=': (value, limit) => value >= limit,
  '<': (value, limit) => value < limit,
  '<=': (value, limit) => value <= limit,
};

/** The columns that a list can be sorted by. */
const FACTS = {
  query: (row) => row.query,
  outcome: (row) => row.state,
  turns: (row) => row.success.length,
  right: (row) => row.success.findIndex((s) => s === 1) + 1 || null,
  reward: (row) => row.reward,
  tokens: rowTokens,
  seconds: rowMs,
  ended: (row) => row.endedAt,
  waiting: (row) => row.doing?.since ?? null,
} as const satisfies Record<string, (row: Row) => string | number | null>;
type SortKey = keyof typeof FACTS;

/** `tokens` ascending, `-tokens` descending; anything else is the data set's order. */
export function sorted(rows: readonly Row[], by: string): readonly Row[] {
  const down = by.startsWith('-');
  const key = down ? by.slice(1) : by;
  if (!Object.hasOwn(FACTS, key)) return rows;
  const fact: (row: Row) => string | number | null = FACTS[key as SortKey];
  const known: { readonly row: Row; readonly value: string | number }[] = [];
  const rest: Row[] = [];
  for (const row of rows) {
    const value = fact(row);
    if (value === null) rest.push(row);
    else known.push({ row, value });
  }
  const sign = down ? -1 : 1;
  known.sort((a, b) => sign * (a.value < b.value ? -1 : a.value > b.value ? 1 : 0));
  return [...known.map(({ row }) => row), ...rest];
}

export const listed = (rows: readonly Row[], { filter, sort }: ListQuery): readonly Row[] =>
  sorted(filter.trim() === '' ? rows : rows.filter(parseFilter(filter).holds), sort);

export const cutPage = <T>(all: readonly T[], from: number, count: number): Page<T> => ({
  count: all.length,
  rows: all.slice(from, from + count),
});

export function neighbours(all: readonly Row[], place: RowPlace): Pick<RolloutMessage, 'previous' | 'next'> {
  const at = all.findIndex((row) => rowKey(row) === rowKey(place));
  const near = (i: number) => (at >= 0 && all[i] ? rowPlace(all[i]) : null);
  return { previous: near(at - 1), next: near(at + 1) };
}
