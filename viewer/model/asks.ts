// The questions of the pages, asked of the server or of what a report holds: the type of each, and the tests of its arguments.
// The pages send their calls by this table, and the server checks by it what arrives.

import { flawIn, NAME, objectOf, type Test, wholeNumber } from '../../domain/schema/fields.ts';
import type * as message from './messages.ts';

export interface Asks {
  runs(): Promise<message.RunsMessage>;
  run(run: string): Promise<message.RunMessage>;
  rows(run: string, list: message.ListQuery, from: number, count: number): Promise<message.RowsMessage>;
  rollout(run: string, place: message.RowPlace, list: message.ListQuery): Promise<message.RolloutMessage>;
  tokens(run: string, place: message.RowPlace, turn: number): Promise<message.TokensMessage>;
  /** Finds a text in questions, feedback, answers and found answers. */
  search(run: string, text: string): Promise<message.SearchMessage>;
  compare(a: string, b: string): Promise<message.CompareMessage>;
  several(runs: readonly string[]): Promise<message.SeveralMessage>;
  evaluation(name: string): Promise<message.EvaluationMessage>;
}

const upTo = (most: number, least = 0): Test<string> => [
  (value) => typeof value === 'string' && value.length >= least && value.length <= most,
  `a text of ${least} to ${most} characters`,
];
const PLACE = objectOf({ query: upTo(100_000), sample: wholeNumber(0, 1e9), attempt: wholeNumber(1, 1e9) });
const LIST = objectOf({ filter: upTo(2_000), sort: upTo(40) });
const PAGE = [wholeNumber(0, 1e9), wholeNumber(0, 500)] as const;
const MOST_RUNS = 32;
const RUNS: Test = [
  (value) => Array.isArray(value) && value.length > 0 && value.length <= MOST_RUNS && value.every(NAME[0]),
  `a list of 1 to ${MOST_RUNS} runs`,
];

export const ASKS: Readonly<Record<keyof Asks, readonly Test[]>> = {
  runs: [],
  run: [NAME],
  rows: [NAME, LIST, ...PAGE],
  rollout: [NAME, PLACE, LIST],
  tokens: [NAME, PLACE, wholeNumber(1, 1e6)],
  search: [NAME, upTo(500, 1)],
  compare: [NAME, NAME],
  several: [RUNS],
  evaluation: [NAME],
};

/** The fault of arguments; undefined if there is none. */
export const flawOfArguments = (name: keyof Asks, given: readonly unknown[]): string | undefined =>
  flawIn(Object.fromEntries(Object.entries(ASKS[name])), { ...given });
