// The JSON around every reply, over any transport: `{"result": …}` or `{"error": …}`. Nothing of it is trusted.

import { MAX_REPLY_BYTES } from '../../domain/rollout/environment.ts';
import { EnvironmentError } from '../../domain/errors/errors.ts';
import { lastLines, short } from '../../domain/text/foreign-text.ts';
import { DoubtfulJson, strictJson } from '../../domain/text/json-text.ts';

/** Between two tries to get a session of an environment that has no free one. */
const BUSY_MS = 2_000;

/** `who`: the environment, for messages. */
export function brokenError(who: string, what: string, problem: string, fix?: string): EnvironmentError {
  return new EnvironmentError(`The environment ${who} broke the contract in \`${what}\`: ${problem}.`, {
    reason: 'environment-broken',
    fix: fix ?? 'docs/environment-messages.md has the form of each message.',
  });
}

/** The JSON of one line or body; says what is wrong with it. */
export function parseLine(who: string, bytes: Buffer): unknown {
  if (bytes.length > MAX_REPLY_BYTES) throw tooLarge(who);
  let said: string;
  try {
    said = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw brokenError(who, 'reply', 'it is not UTF-8');
  }
  try {
    return strictJson(said);
  } catch (error) {
    if (error instanceof DoubtfulJson) throw brokenError(who, 'reply', `it ${error.message}`);
    const none = /[:[,]\s*(NaN|-?Infinity|undefined)\b/.exec(said)?.[1];
    const problem = none
      ? `it holds ${none}, which JSON does not have`
      : `${JSON.stringify(short(said, 80))} is not JSON`;
    throw brokenError(
      who,
      'reply',
      problem,
      'Standard output takes one JSON object a line; write anything else to standard error.',
    );
  }
}

export function tooLarge(who: string): EnvironmentError {
  return new EnvironmentError(`The environment ${who} gave more than ${MAX_REPLY_BYTES >> 20} MiB in one reply.`, {
    reason: 'environment-too-large',
    fix: 'Reply with what the model needs; write anything else to a file.',
  });
}

/** A reply with its other fields. `error`: as the environment reported it, in place of a result. */
export function replyIn(who: string, method: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw brokenError(who, method, 'the reply is not an object');
  const { error, ...rest } = value as Record<string, unknown>;
  if (error !== undefined && error !== null) return { ...rest, error };
  if (!('result' in value)) throw brokenError(who, method, 'the reply has neither `result` nor `error`');
  return rest;
}

/** An error that the environment reports. */
export function reportedError(who: string, method: string, error: unknown): EnvironmentError {
  const {
    retryable,
    lost: isLost,
    busy,
  } = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>;
  if (isLost === true) return lostSessionError(who, errorMessage(error));
  if (busy === true) {
    return new EnvironmentError(`The environment ${who} is busy in \`${method}\`: ${errorMessage(error)}`, {
      reason: 'environment-not-served',
      fix: 'Give it more sessions, or the run a smaller --max-concurrent.',
      retryable: true,
      retryAfterMs: BUSY_MS,
    });
  }
  return new EnvironmentError(`The environment ${who} failed in \`${method}\`: ${errorMessage(error)}`, {
    reason: 'environment-error',
    retryable: retryable === true,
    ...traceIn(error),
  });
}

/** The traceback of a reported error, if it has one. */
export function traceIn(error: unknown): { readonly trace?: string } {
  const { trace } = Object(error) as { readonly trace?: unknown };
  const said = typeof trace === 'string' ? lastLines(trace) : '';
  return said === '' ? {} : { trace: said };
}

/** The message of a reported error, or the error itself as JSON. */
export function errorMessage(error: unknown): string {
  const { message } = (typeof error === 'object' && error !== null ? error : { message: error }) as Record<
    string,
    unknown
  >;
  return short(typeof message === 'string' ? message : JSON.stringify(error), 500);
}

/** `why`: as the environment says. */
export function lostSessionError(name: string, why?: string): EnvironmentError {
  const said = why === undefined || why === '' ? '.' : `: ${why}`;
  return new EnvironmentError(`The session that the environment ${name} held for this rollout is gone${said}`, {
    reason: 'environment-lost',
    fix: 'Its process ended, or no call came within its `idleSeconds`. `everturn retry` plays the rollout again.',
  });
}
