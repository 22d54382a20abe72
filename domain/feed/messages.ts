// The JSON messages of a feed: arguments and results of its Updates, and its progress. docs/feed.md says what they mean.
// `problemOf…` reads arguments from outside, which may be anything.

import type { Floor } from './line.ts';
import { type NumberSet, countNumbers } from './number-set.ts';
import { admittedGroups, type FeedState, type Lease, nothingToCome, totalGroups } from './state.ts';
import type { LeftOut } from '../samples/group.ts';
import * as f from '../schema/fields.ts';

export interface FeedInput {
  readonly run: string;
  readonly out: string;
  /** The feed ends by itself when nothing is open for so long; default 10 minutes. */
  readonly idleMs?: number;
  /** Updates or events after which it continues as new; for tests. */
  readonly maxUpdates?: number;
  /** Filled by continue-as-new only. */
  readonly carried?: FeedState;
}

export const DEFAULT_LEASE_SECONDS = 600;
/** One Update waits no longer; clients ask again. */
const MAX_WAIT_SECONDS = 60;
const MAX_LEASE_GROUPS = 4096;

const VERSION = f.wholeNumber(0, 2 ** 31 - 1);
/** Null is as good as absent. */
const either = <T>(test: f.Test<T>) => f.maybe(f.orNull(test));
const text = (most: number): f.Test<string> => [
  (value) =>
    typeof value === 'string' && value.length > 0 && value.length <= most && !/[\p{C}\p{Zl}\p{Zp}]/u.test(value),
  `a text of 1 to ${most} characters, without control characters`,
];

/** The arguments of each verb. */
const VERB_ARGUMENTS = {
  lease: {
    /** Names the caller in `status`. */
    consumer: text(200),
    groups: f.wholeNumber(1, MAX_LEASE_GROUPS),
    /** Seconds to wait for them; default 0. */
    wait: either(f.realNumber(0, MAX_WAIT_SECONDS)),
    /** Fewer are enough; default `groups`. */
    least: either(f.wholeNumber(1, MAX_LEASE_GROUPS)),
    /** The time after which its groups are given to others that need them; default 600. */
    seconds: either(f.realNumber(0.1, 7 * 86_400)),
    /** The caller's own id of this request: sent again, it gets the same lease, for `seconds` from then on. */
    request: either(text(200)),
    /** The line that the trainer's rewind began; default 0: it never called `rewind`. */
    line: either(VERSION),
    /** For the rows alone: tokens of weights that are more versions older than those they are trained at are masked. */
    max_token_gap: either(VERSION),
  },
  acknowledge: {
    lease: text(300),
    version: VERSION,
    /** Default: that of the lease. */
    line: either(VERSION),
  },
  version: {
    version: VERSION,
    /** A folder that every server (or worker, for an embedded model) reaches. */
    weights: either(text(4096)),
    /** The same, of an adapter of the model. */
    adapter: either(text(4096)),
    /** The line of weights that the trainer is on, as in a lease. */
    line: either(VERSION),
  },
  rewind: {
    version: VERSION,
    /** The caller's own id of this request: sent again, it begins no other line. */
    request: either(text(200)),
  },
};
export type Verb = keyof typeof VERB_ARGUMENTS;
export type ArgumentsOf<V extends Verb> = f.ObjectOf<(typeof VERB_ARGUMENTS)[V]>;
export type LeaseArguments = ArgumentsOf<'lease'>;
export const VERBS = Object.keys(VERB_ARGUMENTS) as readonly Verb[];

/** `waiting`: not enough groups in time. `finished`: none is left to be leased. `again`: ask again at once. */
type WhyNone = 'waiting' | 'finished' | 'again';

export type LeaseResult = { readonly lease: null; readonly why: WhyNone } | { readonly lease: GrantedLease };

export interface GrantedLease extends Pick<
  Lease,
  'id' | 'consumer' | 'groups' | 'version' | 'trainedAt' | 'line' | 'until'
> {
  /** Which weights survived the rewinds so far. */
  readonly floors: readonly Floor[];
}

export interface AcknowledgeResult {
  readonly lease: string;
  readonly version: number;
  readonly groups: number;
  /** It was acknowledged before. */
  readonly already: boolean;
}

export interface VersionResult {
  readonly version: number;
  readonly already: boolean;
}

export interface RewindResult {
  readonly version: number;
  /** The line that began: the verbs of this trainer carry it from now on. */
  readonly line: number;
  /** Groups that are offered again. */
  readonly offered: number;
}

export interface FeedProgress {
  readonly run: string;
  readonly line: number;
  readonly version: number;
  readonly entries: number;
  readonly total: number;
  readonly admitted: number;
  /** Groups that may be leased. */
  readonly ready: number;
  readonly readyGroups: NumberSet;
  /** Groups that have begun and not ended, as far as they were looked at. */
  readonly playing: number;
  readonly leases: readonly {
    readonly lease: string;
    readonly consumer: string;
    readonly groups: number;
    /** Their numbers. */
    readonly numbers: NumberSet;
    readonly until: number;
  }[];
  readonly trained: number;
  /** The version of the newest acknowledgement; null if there is none. */
  readonly trainedInto: number | null;
  readonly leftOut: Readonly<Record<LeftOut, number>>;
  readonly concluded: boolean;
}

export function feedProgress(state: FeedState): FeedProgress {
  const { run, line, version, entries, ready, playing, leases, trainedGroups, acknowledged, leftOut } = state;
  return {
    ...{ run, line, version, entries, leftOut, trained: trainedGroups },
    total: totalGroups(state.shape),
    admitted: admittedGroups(state),
    ready: countNumbers(ready),
    readyGroups: ready.slice(0, 100),
    playing: countNumbers(playing),
    leases: leases.map(({ id, groups, ...rest }) => ({
      ...{ lease: id, consumer: rest.consumer, groups: countNumbers(groups), numbers: groups, until: rest.until },
    })),
    trainedInto: acknowledged.at(-1)?.version ?? null,
    concluded: state.concluded && nothingToCome(state),
  };
}

/** The problem of a verb’s arguments; undefined without one. */
export function argumentProblem(verb: Verb, given: unknown): string | undefined {
  if (!f.isObject(given)) return `${verb} takes one JSON object`;
  const table: f.FieldTable = VERB_ARGUMENTS[verb];
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(table, name));
  if (unknown !== undefined)
    return `${verb} takes ${Object.keys(table).join(', ')}, and no ${JSON.stringify(unknown.slice(0, 40))}`;
  for (const [name, [test, wanted]] of Object.entries(table)) {
    if (!test(given[name])) return `\`${name}\` of ${verb} is ${shown(given[name])}; it takes ${wanted}`;
  }
  if (given['weights'] != null && given['adapter'] != null) return `${verb} takes \`weights\` or \`adapter\`, not both`;
  const { groups, least } = given as Partial<LeaseArguments>;
  if (verb === 'lease' && least != null && least > groups!) return `\`least\` of lease is ${least}, above \`groups\``;
  return undefined;
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : (JSON.stringify(value) ?? typeof value).slice(0, 60);
}
