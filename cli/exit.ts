// Exit codes: the one mapping from errors, and from the ends of a run, to numbers.

import { CommanderError } from 'commander';
import { terminalJson, visible } from '../domain/text/foreign-text.ts';
import { EverturnError, explain, StoreError } from '../domain/errors/errors.ts';
import { countEnded } from '../domain/run/progress.ts';
import type { Boundary, Reason } from '../domain/errors/reasons.ts';
import type { CollectionResult } from '../domain/run/messages.ts';

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
  /** `export`: no rollout, or no pair, is in it; no file is made. */
  nothing: 8,
  /** `compare --min-delta`: the second run is worse; `stats --fail-under`: the run is not good enough. */
  below: 10,
  detached: 130,
  /** The reader of stdout went away, as `head` does. */
  closedPipe: 141,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** An unusable --out, and records of another version: nothing is broken, unlike with a full disk or a bucket that is away. */
const WRONG_PLACE: ReadonlySet<Reason<'store'>> = new Set([
  ...(['other-version', 'no-permission', 'read-only', 'not-a-folder', 'no-such-folder', 'is-a-folder'] as const),
  ...(['not-a-file', 'name-too-long', 'no-device', 'clock-skew', 'no-bucket-keys'] as const),
  ...(['bucket-denied', 'bucket-missing', 'bucket-refused', 'bucket-region', 'bucket-unsafe'] as const),
]);

const EXIT_OF: Readonly<Record<Boundary, ExitCode>> = {
  usage: EXIT.usage,
  dataset: EXIT.dataset,
  model: EXIT.model,
  temporal: EXIT.temporal,
  judge: EXIT.bug,
  environment: EXIT.usage,
  agent: EXIT.usage,
  tool: EXIT.usage,
  store: EXIT.bug,
  sandbox: EXIT.sandbox,
  everturn: EXIT.bug,
};

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof StoreError && WRONG_PLACE.has(error.reason)) return EXIT.usage;
  return error instanceof EverturnError ? EXIT_OF[error.boundary] : EXIT.bug;
}

/** One paragraph for users: the fault, its place, the fix. The stack only with --verbose. */
export function errorText(error: unknown, verbose: boolean): string {
  const known = error instanceof EverturnError;
  const text = `everturn: ${known ? '' : 'unexpected error: '}${visible(explain(error))}`;
  const hint = known || verbose ? '' : ' (--verbose shows where)';
  return `${text}${hint}\n${verbose ? `${stackOf(error)}\n` : ''}`;
}

/** The last line of stderr with --json, for programs: `{"error": {boundary, reason, message, exitCode}}`. */
export function errorJson(error: unknown, exitCode: ExitCode): string {
  const [boundary, reason]: [Boundary, Reason] =
    error instanceof EverturnError
      ? [error.boundary, error.reason]
      : error instanceof CommanderError
        ? ['usage', USAGE_OF[error.code] ?? 'bad-arguments']
        : ['everturn', 'error'];
  return terminalJson({ error: { boundary, reason, message: explain(error).replace(/^error: /, ''), exitCode } });
}

const USAGE_OF: Readonly<Record<string, Reason<'usage'>>> = {
  'commander.unknownOption': 'unknown-option',
  'commander.unknownCommand': 'unknown-command',
};

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const cause = error.cause === undefined ? '' : `\ncaused by ${stackOf(error.cause) || visible(String(error.cause))}`;
  return visible(error.stack ?? error.message) + cause;
}

/**
 * Undecided rollouts are not counted as failed. But a run of which no rollout is complete did nothing, as with a judge or
 * an environment that is broken: whatever may fail, it is no success.
 */
export function exitCodeOfResult(result: CollectionResult, maxFailed: number): ExitCode {
  if (result.cancelled) return EXIT.failed;
  if (result.counts.outcomes.failed <= maxFailed && !noneComplete(result)) return EXIT.ok;
  return modelFailedAll(result) ? EXIT.model : EXIT.failed;
}

/** Rollouts ended, and none of them gives a sample. */
export function noneComplete({ counts }: Pick<CollectionResult, 'counts'>): boolean {
  return counts.outcomes.complete === 0 && countEnded(counts) > 0;
}

/** Every rollout failed, and each at the model's boundary. */
export function modelFailedAll({ counts }: CollectionResult): boolean {
  const { failed } = counts.outcomes;
  return failed > 0 && failed === countEnded(counts) && counts.boundaries?.model === failed;
}
