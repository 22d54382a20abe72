// A rollout as a row of a list: some hundred bytes of how it ended and the small facts of its turns, without texts and
// tokens. The index of ended rollouts holds it (records/ended), the viewer lists it. Pure.

import type { Outcome, StopReason } from './ending.ts';
import type { NamedNumbers, RolloutSummary, TurnSummary } from './rollout-summary.ts';

/** A rollout that has begun; `open` until its end is recorded. */
export type RowState = Outcome | 'open';

export interface RolloutRow {
  /** 0-based place of its query in the data set; null for a rollout that a client started directly. */
  readonly index: number | null;
  readonly query: string;
  /** The question's first words. */
  readonly title: string;
  /** Values of its reference answers, a few; absent where it has none. */
  readonly expected?: readonly string[];
  /** Its query's category, subject, level and the like, by name; absent without any. */
  readonly categories?: Readonly<Record<string, string>>;
  /** 0-based. */
  readonly sample: number;
  /** 1-based. */
  readonly attempt: number;
  readonly state: RowState;
  /** Null while it is open. */
  readonly stop: StopReason | null;
  /** The reason of a failed or undecided rollout. */
  readonly reason: string | null;
  /** 1 right, 0 wrong, null not judged; one per finished turn that is an answer. */
  readonly success: readonly (0 | 1 | null)[];
  /** G_1, the return of the whole rollout; null unless it is complete. */
  readonly reward: number | null;
  /** Epoch milliseconds; null while it is open. */
  readonly endedAt: number | null;
  readonly turns: Glance;
  /** A person's message is in its context: it counts in no number of the run. */
  readonly steered?: true;
  /** A record of it that cannot be read. */
  readonly flaw?: string;
  /** Only while it is open. */
  readonly doing?: Doing;
}

/** In any case of letters. */
export const isOfCategory = ({ categories = {} }: Pick<RolloutRow, 'categories'>, wanted: string): boolean =>
  Object.values(categories).some((value) => value.toLowerCase() === wanted.toLowerCase());

/** The step that an open rollout waits for. */
export interface Doing {
  /** 1-based. */
  readonly turn: number;
  readonly what: 'answer' | 'judge';
  /** Parts of the answer that are stored. */
  readonly chunks: number;
  /** Epoch milliseconds of the newest record. */
  readonly since: number;
}

/** The small facts of a rollout's turns, in order: one entry per turn where it is a list. */
interface Glance {
  /** Null: unknown, because the server gave text without tokens. */
  readonly tokens: readonly (number | null)[];
  /** Tokens of the whole context that each was sent with. */
  readonly context: readonly (number | null)[];
  /** Those of them that an endpoint had cached; absent where none counts them. */
  readonly cached?: readonly (number | null)[];
  readonly ms: readonly number[];
  /** One letter per turn: `s` stop, `l` length, `a` abort. */
  readonly finish: string;
  /** The judge's reason; empty where a turn is not judged. */
  readonly reasons: readonly string[];
  /** The answer found by the judge in the last turn where it found one. */
  readonly extracted: string | null;
  readonly server: string | null;
  /** 0-based places of the turns that are answers; absent if all are: none called tools. */
  readonly answers?: readonly number[];
  /** The lowest and the highest weight version; null without a turn. */
  readonly versions: readonly [number, number] | null;
  /** Absent if no turn has one. */
  readonly named?: readonly NamedNumbers[];
}

/** `flaw`: a record that cannot be read, so that `found` is without turns. */
export function rolloutRow(
  found: RolloutSummary,
  { title, expected, categories }: Pick<RolloutRow, 'title' | 'expected' | 'categories'>,
  flaw?: string,
): RolloutRow {
  const { index, query, sample, attempt, outcome, stopReason, failure, success, returns, finishedAt, steered } = found;
  const turns = glanceOf(found.turns, success.length);
  const undecided = outcome === 'undecided' ? (turns.reasons.at(-1) ?? null) : null;
  return {
    ...{ index, query, title, ...(expected && { expected }), ...(categories && { categories }), sample, attempt },
    state: outcome ?? 'open',
    stop: stopReason,
    reason: failure ?? undecided,
    success,
    reward: returns[0] ?? null,
    endedAt: finishedAt,
    turns,
    ...(steered && { steered: true as const }),
    ...(flaw !== undefined && { flaw }),
  };
}

const namedOf = ({ metrics, rewards }: TurnSummary): NamedNumbers => ({
  ...(metrics && { metrics }),
  ...(rewards && { rewards }),
});

function glanceOf(turns: readonly TurnSummary[], judged: number): Glance {
  const answers = turns.flatMap(({ verdict }, i) => (verdict === 'called' ? [] : i));
  // Calls whose results no turn could take are an answer.
  if (turns.length > 0 && answers.length < judged) answers.push(turns.length - 1);
  return {
    ...(answers.length < turns.length && { answers }),
    ...(turns.some(({ metrics, rewards }) => metrics || rewards) && { named: turns.map(namedOf) }),
    tokens: turns.map(({ outputTokens }) => outputTokens),
    context: turns.map((turn) => turn.contextTokens),
    ...(turns.some((turn) => turn.cachedTokens !== undefined) && {
      cached: turns.map((turn) => turn.cachedTokens ?? null),
    }),
    ms: turns.map(({ startedAt, finishedAt }) => Math.max(0, finishedAt - startedAt)),
    finish: turns.map(({ finish }) => finish.charAt(0)).join(''),
    reasons: turns.map(({ reason }) => reason ?? ''),
    extracted: turns.findLast(({ extracted }) => extracted !== null)?.extracted ?? null,
    server: turns.findLast(({ server }) => server !== null)?.server ?? null,
    versions:
      turns.length === 0
        ? null
        : [
            Math.min(...turns.map(({ versionStart }) => versionStart)),
            Math.max(...turns.map(({ versionEnd }) => versionEnd)),
          ],
  };
}
