// The options of a run's methods as data: their names, and the values that each takes. An option that cannot be meant is
// refused before anything is read.

import { unusable } from '../domain/errors/unusable.ts';
import { UNDECIDED } from '../domain/samples/finished-turns.ts';
import { CONTRADICTED, VERDICT_SOURCES } from '../domain/samples/human-verdicts.ts';
import {
  BOOLEAN,
  COUNT,
  eitherOf,
  type FieldTable,
  isObject,
  LIST,
  listOf,
  maybe,
  NAME,
  NUMBERS,
  OBJECT,
  oneOf,
  PLACE,
  realNumber,
  shownValue,
  type Test,
} from '../domain/schema/fields.ts';
import { EXPORT_FORMATS, SEQUENCES } from '../formats/exports/index.ts';
import { ADVANTAGES, HUMAN_TURNS } from '../records/export/group-labels.ts';

const FUNCTION: Test = [(value) => typeof value === 'function', 'a function'];
const SIGNAL: Test = [(value) => value instanceof AbortSignal, 'an AbortSignal'];

const PLACE_OPTIONS = {
  out: maybe(NAME),
  home: maybe(NAME),
  env: maybe(OBJECT as Test),
  cwd: maybe(NAME),
  signal: maybe(SIGNAL),
};

/** Beside these it takes the options of a run, which have a table of their own. */
const START_OPTIONS = {
  ...PLACE_OPTIONS,
  dataset: NAME,
  /** Functions of the program, read where they are used. */
  tools: maybe(LIST),
  name: maybe(NAME),
  config: maybe(NAME),
  strict: maybe(BOOLEAN),
  onEvent: maybe(FUNCTION),
};

/** Beside these, too. */
const EVALUATE_OPTIONS = {
  ...PLACE_OPTIONS,
  benchmarks: listOf(NAME),
  models: maybe(listOf(NAME)),
  vary: maybe(OBJECT as Test),
  repeats: maybe(PLACE),
  name: maybe(NAME),
  config: maybe(NAME),
  strict: maybe(BOOLEAN),
  onEvent: maybe(FUNCTION),
};

const WAIT_OPTIONS = { signal: maybe(SIGNAL), onWait: maybe(FUNCTION) };

const STATS_OPTIONS = {
  k: maybe(listOf(PLACE)),
  atTurn: maybe(PLACE),
  by: maybe(NAME),
  rows: maybe(NAME),
  judgements: maybe(NAME),
  prices: maybe(eitherOf(OBJECT as Test, FUNCTION)),
  logprobs: maybe(BOOLEAN),
  includeSteered: maybe(BOOLEAN),
};

const SELECTION = {
  undecided: maybe(oneOf(...UNDECIDED)),
  verdicts: maybe(oneOf(...VERDICT_SOURCES)),
  contradicted: maybe(oneOf(...CONTRADICTED)),
  humanTurns: maybe(oneOf(...HUMAN_TURNS)),
  successRate: maybe(eitherOf(NAME, NUMBERS)),
  dropZeroVariance: maybe(BOOLEAN),
  minMembers: maybe(PLACE),
  maxTokenGap: maybe(COUNT),
};

const ROWS_OPTIONS = {
  ...SELECTION,
  advantages: maybe(oneOf(...ADVANTAGES)),
  texts: maybe(BOOLEAN),
  onSkip: maybe(FUNCTION),
};

const EXPORT_OPTIONS = {
  ...ROWS_OPTIONS,
  sequences: maybe(oneOf(...SEQUENCES)),
  overwrite: maybe(BOOLEAN),
};

const CHECK_OPTIONS = {
  ...SELECTION,
  export: maybe(NAME),
  format: maybe(oneOf(...EXPORT_FORMATS.map(({ name }) => name))),
  sequences: maybe(oneOf(...SEQUENCES)),
  tokenizer: maybe(eitherOf(NAME, oneOf(false))),
  clockSkew: maybe(realNumber(0, Number.MAX_VALUE, 'a number of seconds')),
  onBreach: maybe(FUNCTION),
};

const CONTINUE_OPTIONS = {
  query: NAME,
  sample: maybe(COUNT),
  attempt: maybe(PLACE),
  say: maybe(NAME),
  name: maybe(NAME),
  by: maybe(NAME),
  reason: maybe(NAME),
  onEvent: maybe(FUNCTION),
};

const WEIGHTS_OPTIONS = {
  from: maybe(NAME),
  adapter: maybe(NAME),
  weightVersion: eitherOf(COUNT, NAME),
  rewind: maybe(BOOLEAN),
  apiKeyEnv: maybe(NAME),
  onServer: maybe(FUNCTION),
  onEvent: maybe(FUNCTION),
  signal: maybe(SIGNAL),
};

const JUDGE_OPTIONS = {
  name: maybe(NAME),
  environment: maybe(NAME),
  unsafeRunCodeWithoutSandbox: maybe(BOOLEAN),
  onEvent: maybe(FUNCTION),
};

const PAIRS_OPTIONS = {
  judge: maybe(oneOf('math', 'code')),
  explain: maybe(BOOLEAN),
  unsafeRunCodeWithoutSandbox: maybe(BOOLEAN),
  onBad: maybe(FUNCTION),
  onNote: maybe(FUNCTION),
  cwd: maybe(NAME),
  env: maybe(OBJECT as Test),
};

const OPTIONS = {
  start: START_OPTIONS,
  evaluate: EVALUATE_OPTIONS,
  openRun: PLACE_OPTIONS,
  rollouts: { ...WAIT_OPTIONS, follow: maybe(BOOLEAN) },
  rows: ROWS_OPTIONS,
  stats: STATS_OPTIONS,
  export: EXPORT_OPTIONS,
  check: CHECK_OPTIONS,
  status: {},
  result: WAIT_OPTIONS,
  pause: {},
  resume: {},
  tune: { maxConcurrent: PLACE },
  fork: { ...CONTINUE_OPTIONS, fromTurn: PLACE, samples: maybe(PLACE) },
  extend: { ...CONTINUE_OPTIONS, turns: PLACE },
  updateWeights: WEIGHTS_OPTIONS,
  judge: JUDGE_OPTIONS,
  judgePairs: PAIRS_OPTIONS,
  cancel: {},
} satisfies Readonly<Record<string, FieldTable>>;

export type Method = keyof typeof OPTIONS;

export const METHOD_OPTIONS: readonly string[] = Object.values(OPTIONS).flatMap((table) => Object.keys(table));

/** Throws a UsageError that names the option, and what it takes. */
export function mustTake(method: Method, options: unknown): void {
  const table: FieldTable = OPTIONS[method];
  const hasMore = method === 'start' || method === 'evaluate';
  const more = hasMore ? ', and the settings of a run (docs/settings.md)' : '';
  const names = `It takes ${Object.keys(table).join(', ') || 'none'}${more}.`;
  if (!isObject(options)) throw unusable(`The options of ${method}() are ${shownValue(options)}.`, names);
  const alien = Object.keys(options).find((name) => !Object.hasOwn(table, name));
  if (alien !== undefined && !hasMore)
    throw unusable(`${method}() has no option ${JSON.stringify(alien)}.`, names, 'unknown-option');
  for (const [name, [test, wanted]] of Object.entries(table)) {
    const value = Object.hasOwn(options, name) ? options[name] : undefined;
    if (!test(value))
      throw unusable(`The option ${name} of ${method}() is ${shownValue(value)}.`, `It takes ${wanted}.`);
  }
}
