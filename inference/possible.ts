// Checks that a model can have produced an answer. Impossible numbers are rejected and never corrected: records contain
// only the model's own output. Applies to servers and to the embedded engine. Retries nothing.

import type { Reason } from '../domain/errors/reasons.ts';
import { drawsFromSets, type KeptSet, largestSet } from '../domain/rollout/kept-sets.ts';
import { LEAST_LOGPROB, MOST_LOGPROB } from '../domain/rollout/logprob-meaning.ts';
import type { Finish, VersionSpan } from '../domain/rollout/turn.ts';
import { fallingVersions } from '../domain/weights/weight-version.ts';
import type { GenerateRequest } from './backend.ts';

export interface Claimed {
  readonly outputIds: readonly number[];
  readonly logprobs: readonly (number | null | undefined)[];
  readonly finish: Finish;
  /** Null if spans do not cover the tokens. */
  readonly versions: readonly VersionSpan[] | null;
  readonly kept?: readonly KeptSet[];
  readonly keptLogprobs?: readonly number[];
}

export interface Impossible {
  readonly reason: Reason<'model'>;
  /** The same text for the same fault. */
  readonly flaw: string;
  /** Words with numbers, to follow the name of the server: "gave 3 logprobs for 4 tokens". */
  readonly what: string;
}

interface Limits {
  readonly vocabSize: number;
  /** True for the model's stop ids, requested or not. */
  readonly ends: (id: number) => boolean;
  /** Its url; absent for an embedded model. */
  readonly server?: string | null;
}

/** The fault of an answer; null if it is possible. One without tokens ended before its first. */
export function findImpossible(answer: Claimed, request: GenerateRequest, limits: Limits): Impossible | null {
  const { outputIds, logprobs, versions } = answer;
  const n = outputIds.length;
  const malformed = (flaw: string, what: string) => ({ reason: 'reply-malformed' as const, flaw, what });
  if (n > request.maxNewTokens) {
    return malformed('more tokens than asked for', `gave ${n} tokens where ${request.maxNewTokens} were asked for`);
  }
  const alien = outputIds.find((id) => !Number.isInteger(id) || id < 0 || id >= limits.vocabSize);
  if (alien !== undefined) {
    const what = `gave the token id ${alien}; its vocabulary ends at ${limits.vocabSize - 1}`;
    return { reason: 'token-out-of-vocabulary', flaw: 'a token id outside the vocabulary', what };
  }
  if (logprobs.length !== n) {
    const flaw = logprobs.length === 0 ? 'logprobs missing' : 'another number of logprobs than of tokens';
    return malformed(flaw, `gave ${logprobs.length} logprobs for ${n} tokens`);
  }
  const at = logprobs.findIndex((logprob) => flawOfLogprob(logprob) !== null);
  if (at >= 0) {
    const [flaw, value] = [flawOfLogprob(logprobs[at])!, String(logprobs[at])];
    return {
      reason: 'bad-logprobs',
      flaw,
      what: `gave a logprob that cannot be: ${value} (${flaw}), of token ${at + 1}`,
    };
  }
  if (versions === null) {
    return malformed('versions that do not cover the tokens', `reported versions that do not cover its ${n} tokens`);
  }
  const back = fallingVersions(versions);
  if (back) return malformed('versions that go back', `reported versions that go back: ${back}`);
  const unfit = answer.kept && flawOfKept(answer, request, limits);
  if (unfit) return malformed('kept sets that cannot be', `gave kept sets that cannot be: ${unfit}`);
  return flawOfEnd(answer, request, limits.ends, malformed);
}

/** Each token stands in its set, which is of the vocabulary, and no larger than top-k lets it be. */
function flawOfKept(
  { outputIds, kept = [], keptLogprobs: over }: Pick<Claimed, 'outputIds' | 'kept' | 'keptLogprobs'>,
  { sampling }: Pick<GenerateRequest, 'sampling'>,
  { vocabSize, server = null }: Limits,
): string | null {
  if (!drawsFromSets(sampling, vocabSize)) return 'no token was left out';
  if (kept.length !== outputIds.length) return `${kept.length} for ${outputIds.length} tokens`;
  if (over && over.length !== outputIds.length) return `${over.length} logprobs over ${outputIds.length} sets`;
  const flawAt = (i: number) =>
    flawOfSet(kept[i]!, outputIds[i]!, largestSet(sampling.topK, server), vocabSize) ??
    (over && flawOfLogprob(over[i]) && `has over its set ${flawOfLogprob(over[i])}`);
  const at = outputIds.findIndex((_, i) => flawAt(i));
  return at < 0 ? null : `token ${at + 1} ${flawAt(at)}`;
}

function flawOfSet(set: KeptSet, id: number, most: number, vocabSize: number): string | null {
  if (set === null) return null;
  if (!set.includes(id)) return `(${id}) is not in its set`;
  if (set.some((one, i) => one === set[i - 1])) return 'has an id twice in its set';
  if (set.length > most) return `was drawn from ${set.length} ids, and top-k leaves ${most}`;
  return set.at(-1)! < vocabSize ? null : `was drawn from ids outside the vocabulary`;
}

export function flawOfLogprob(logprob: number | null | undefined): string | null {
  if (typeof logprob !== 'number' || !Number.isFinite(logprob)) return 'a logprob that is no number';
  if (logprob > MOST_LOGPROB) return 'a logprob above 0';
  return logprob < LEAST_LOGPROB ? `a logprob below ${LEAST_LOGPROB}` : null;
}

function flawOfEnd(
  { outputIds, finish }: Claimed,
  { maxNewTokens, stopTokenIds }: GenerateRequest,
  ends: (id: number) => boolean,
  malformed: (flaw: string, what: string) => Impossible,
): Impossible | null {
  const asked = new Set(stopTokenIds);
  const last = outputIds.at(-1);
  if (last === undefined) return null;
  // Other stop tokens may occur anywhere: a server need not respect its generation_config.json.
  const early = outputIds.findIndex((id, i) => i < outputIds.length - 1 && asked.has(id));
  if (early >= 0) {
    const what = `went on after the stop token ${outputIds[early]!} (token ${early + 1} of ${outputIds.length})`;
    return malformed('a stop token in the middle', what);
  }
  if (finish === 'stop' && !asked.has(last) && !ends(last)) {
    const what = `ended with "stop" at the token ${last}, which is no stop token of its model`;
    return malformed('stop without a stop token', what);
  }
  // A server may report either at the very end of its budget.
  if (finish !== 'stop' && asked.has(last) && outputIds.length < maxNewTokens) {
    return malformed('a stop token without stop', `ended with "${finish}" at the stop token ${last}, with budget left`);
  }
  return null;
}

/** Rounding may put a logprob above 0; it becomes 0. */
export function usableLogprobs(logprobs: Claimed['logprobs']): number[] {
  return logprobs.map((logprob) => Math.min(logprob!, 0));
}

/** Counts as they were received: anything. */
export interface ReportedCounts {
  readonly prompt?: unknown;
  readonly completion?: unknown;
  readonly total?: unknown;
  readonly cached?: unknown;
  readonly reasoning?: unknown;
}

/** Numbers that are known here; null: not known, as the tokens of a text backend. */
interface KnownCounts {
  readonly sent: number | null;
  readonly received: number | null;
}

/** No context is this long. */
const MOST = 1e9;
/** SGLang counts the cached tokens of a request again each time that it takes the request back (during an update). */
const TIMES_CACHED = 100;
const NAMES = {
  prompt: 'prompt_tokens',
  completion: 'completion_tokens',
  total: 'total_tokens',
  cached: 'cached_tokens',
  reasoning: 'reasoning_tokens',
};

export function flawOfCounts(reported: ReportedCounts, { sent, received }: KnownCounts): Impossible | null {
  const flawed = (flaw: string, what: string) => ({ reason: 'reply-malformed' as const, flaw, what });
  for (const key of ['prompt', 'completion', 'total', 'cached', 'reasoning'] as const) {
    const value = reported[key] ?? null;
    if (value === null || isCount(value)) continue;
    const said = JSON.stringify(value).slice(0, 40);
    return flawed(`${NAMES[key]} that cannot be`, `reported ${said} as its ${NAMES[key]}, which cannot be`);
  }
  const { prompt, completion, total, cached } = reported as Readonly<Record<keyof ReportedCounts, number | null>>;
  if (sent !== null && prompt != null && prompt !== sent) {
    const what = `read ${prompt} prompt tokens where ${sent} were sent`;
    return flawed('another number of prompt_tokens than were sent', what);
  }
  if (received !== null && completion != null && completion !== received) {
    const what = `reported ${completion} completion_tokens and gave ${received}`;
    return flawed('another number of completion_tokens than it gave', what);
  }
  if (sent !== null && received !== null && total != null && total !== sent + received) {
    const what = `reported ${total} total_tokens for ${sent} sent and ${received} given`;
    return flawed('another number of total_tokens than there are', what);
  }
  const whole = (sent ?? prompt ?? MOST) + (received ?? completion ?? MOST);
  if (cached != null && cached > whole * TIMES_CACHED) {
    return flawed('more cached_tokens than there are tokens', `reported ${cached} cached_tokens of ${whole} tokens`);
  }
  return null;
}

const isCount = (value: unknown): boolean =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MOST;
