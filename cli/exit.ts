// Exit codes: one place that says which error, and which end of a run, is which number.

import { visible } from '../domain/foreign-text.ts';
import {
  DatasetError,
  EverturnError,
  explain,
  ModelError,
  SandboxError,
  StoreError,
  TemporalError,
  UsageError,
} from '../domain/errors.ts';
import { ended } from '../domain/progress.ts';
import type { CollectionResult } from '../domain/messages.ts';

export const EXIT = {
  ok: 0,
  bug: 1,
  breach: 1,
  usage: 2,
  failed: 3,
  temporal: 4,
  model: 5,
  dataset: 6,
  sandbox: 7,
  detached: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Errors of the file system for an unusable --out; a full or broken disk is not the command's fault. */
const WRONG_OUT = new Set([
  'no-permission',
  'read-only',
  'not-a-folder',
  'no-such-folder',
  'is-a-folder',
  'name-too-long',
  'no-device',
]);

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof StoreError && WRONG_OUT.has(error.reason)) return EXIT.usage;
  if (error instanceof TemporalError) return EXIT.temporal;
  if (error instanceof ModelError) return EXIT.model;
  if (error instanceof DatasetError) return EXIT.dataset;
  if (error instanceof SandboxError) return EXIT.sandbox;
  return EXIT.bug;
}

/** One paragraph for people: what, where, what would be right. The stack only where it was asked for. */
export function errorText(error: unknown, verbose: boolean): string {
  const known = error instanceof EverturnError;
  const text = `everturn: ${known ? '' : 'unexpected error: '}${visible(explain(error))}`;
  const hint = known || verbose ? '' : ' (--verbose shows where)';
  return `${text}${hint}\n${verbose ? `${stackOf(error)}\n` : ''}`;
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const cause = error.cause === undefined ? '' : `\ncaused by ${stackOf(error.cause) || visible(String(error.cause))}`;
  return visible(error.stack ?? error.message) + cause;
}

/**
 * Undecided rollouts do not count here: a judge that cannot decide is no fault of the run; the summary counts them
 * separately.
 */
export function exitCodeOfResult(result: CollectionResult, maxFailed: number): ExitCode {
  if (result.cancelled) return EXIT.failed;
  if (result.counts.outcomes.failed <= maxFailed) return EXIT.ok;
  return modelFailedAll(result) ? EXIT.model : EXIT.failed;
}

/** Nothing was played, and the model is why. */
export function modelFailedAll({ counts }: CollectionResult): boolean {
  const reasons = Object.keys(counts.reasons);
  return counts.outcomes.failed > 0 && counts.outcomes.failed === ended(counts) && reasons.every(isModelReason);
}

/** Failures keep a reason, not the class of their error: the inference room's reasons are told by their words. */
const MODEL_REASON =
  /^(model|tokenizer|chat-template|decode|backend|server|reply|request|token|vocabulary)-|^(bad-log|no-(api-key|chat-template|stop-token|tokenizer))/;

export function isModelReason(reason: string): boolean {
  return MODEL_REASON.test(reason);
}
