// Numbers of tokens that a server reports beside its reply, against what was sent and what was received. A server that
// read another number of tokens than were sent has shortened the context. Counts that are absent prove nothing.

import type { Impossible } from './possible.ts';

/** Counts as they were received: anything. */
export interface ReportedCounts {
  readonly prompt?: unknown;
  readonly completion?: unknown;
  readonly total?: unknown;
  readonly cached?: unknown;
  readonly reasoning?: unknown;
}

/** Numbers that are known here; null: not known, as the tokens of a text backend. */
export interface KnownCounts {
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
