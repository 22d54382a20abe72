// The JSON messages of a feed: arguments and results of its Updates, and its progress. docs/feed.md says what they mean.
// `problemOf…` reads arguments from outside, which may be anything.

import type { Floor } from './line.ts';
import { type NumberSet, sizeOf } from '../run/number-set.ts';
import { admitted, type FeedState, type Lease, nothingToCome, totalGroups } from './state.ts';
import type { LeftOut } from '../rollout/group.ts';

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

export interface LeaseArguments {
  /** Names the caller in `status`. */
  readonly consumer: string;
  readonly groups: number;
  /** Seconds to wait for them; default 0. */
  readonly wait?: number;
  /** Fewer are enough; default `groups`. */
  readonly least?: number;
  /** From then on, its groups are given to others that need them; default 600. */
  readonly seconds?: number;
  /** The caller's own id of this request: sent again, it gets the same lease, for `seconds` from then on. */
  readonly request?: string;
  /** The line that the trainer's rewind began; default 0: it never called `rewind`. */
  readonly line?: number;
}

/** `waiting`: not enough groups in time. `finished`: none is left to be leased. `again`: ask again at once. */
export type WhyNone = 'waiting' | 'finished' | 'again';

export type LeaseResult = { readonly lease: null; readonly why: WhyNone } | { readonly lease: GrantedLease };

export interface GrantedLease extends Pick<
  Lease,
  'id' | 'consumer' | 'groups' | 'version' | 'trainedAt' | 'line' | 'until'
> {
  /** Which weights survived the rewinds so far. */
  readonly floors: readonly Floor[];
}

export interface AcknowledgeArguments {
  readonly lease: string;
  readonly version: number;
  /** Default: that of the lease. */
  readonly line?: number;
}

export interface AcknowledgeResult {
  readonly lease: string;
  readonly version: number;
  readonly groups: number;
  /** It was acknowledged before. */
  readonly already: boolean;
}

export interface VersionArguments {
  readonly version: number;
  /** A folder that every server (or worker, for an embedded model) reaches. */
  readonly weights?: string | null;
  /** As of a lease. */
  readonly line?: number;
}

export interface VersionResult {
  readonly version: number;
  readonly already: boolean;
}

export interface RewindArguments {
  readonly version: number;
  /** The caller's own id of this request: sent again, it begins no other line. */
  readonly request?: string;
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
    admitted: admitted(state),
    ready: sizeOf(ready),
    readyGroups: ready.slice(0, 100),
    playing: sizeOf(playing),
    leases: leases.map(({ id, groups, ...rest }) => ({
      ...{ lease: id, consumer: rest.consumer, groups: sizeOf(groups), numbers: groups, until: rest.until },
    })),
    trainedInto: acknowledged.at(-1)?.version ?? null,
    concluded: state.concluded && nothingToCome(state),
  };
}

export const DEFAULT_LEASE_SECONDS = 600;
export const MAX_LEASE_GROUPS = 4096;
/** One Update waits no longer; clients ask again. */
export const MAX_WAIT_SECONDS = 60;
const MAX_LEASE_SECONDS = 7 * 86_400;
const MAX_VERSION = 2 ** 31 - 1;

type Rule = readonly [test: (value: unknown) => boolean, wanted: string];
const whole = (least: number, most: number): Rule => [
  (value) => Number.isInteger(value) && (value as number) >= least && (value as number) <= most,
  `a whole number from ${least} to ${most}`,
];
const real = (least: number, most: number): Rule => [
  (value) => typeof value === 'number' && value >= least && value <= most,
  `a number from ${least} to ${most}`,
];
const text = (most: number): Rule => [
  (value) =>
    typeof value === 'string' && value.length > 0 && value.length <= most && !/[\p{C}\p{Zl}\p{Zp}]/u.test(value),
  `a text of 1 to ${most} characters, without control characters`,
];
const maybe = ([test, wanted]: Rule): Rule => [(value) => value === undefined || value === null || test(value), wanted];

const VERSION = whole(0, MAX_VERSION);
const LINE = maybe(VERSION);
const RULES = {
  lease: {
    consumer: text(200),
    groups: whole(1, MAX_LEASE_GROUPS),
    wait: maybe(real(0, MAX_WAIT_SECONDS)),
    least: maybe(whole(1, MAX_LEASE_GROUPS)),
    seconds: maybe(real(0.1, MAX_LEASE_SECONDS)),
    request: maybe(text(200)),
    line: LINE,
  },
  acknowledge: { lease: text(300), version: VERSION, line: LINE },
  version: { version: VERSION, weights: maybe(text(4096)), line: LINE },
  rewind: { version: VERSION, request: maybe(text(200)) },
} as const satisfies Record<string, Record<string, Rule>>;

export type Verb = keyof typeof RULES;
export const VERBS = Object.keys(RULES) as readonly Verb[];

/** The problem of a verb’s arguments; undefined without one. */
export function argumentProblem(verb: Verb, given: unknown): string | undefined {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return `${verb} takes one JSON object`;
  const rules: Readonly<Record<string, Rule>> = RULES[verb];
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(rules, name));
  if (unknown !== undefined)
    return `${verb} takes ${Object.keys(rules).join(', ')}, and no ${JSON.stringify(unknown.slice(0, 40))}`;
  for (const [name, [test, wanted]] of Object.entries(rules)) {
    const value = (given as Readonly<Record<string, unknown>>)[name];
    if (!test(value)) return `\`${name}\` of ${verb} is ${shown(value)}; it takes ${wanted}`;
  }
  const { groups, least } = given as Partial<LeaseArguments>;
  if (verb === 'lease' && least != null && least > groups!) return `\`least\` of lease is ${least}, above \`groups\``;
  return undefined;
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : (JSON.stringify(value) ?? typeof value).slice(0, 60);
}
