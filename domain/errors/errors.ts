// Errors by boundary. Each states the fault, its place and the fix; `cause` is stored.
// `boundary` and `reason` are stable machine names that appear in `why`, in histories and in the store; domain/
// reasons.ts lists them all. `retryable` informs Temporal, the one layer that retries, whether another attempt can succeed.

import type { Boundary, Reason } from './reasons.ts';

interface ErrorDetails<B extends Boundary = Boundary> {
  /** Stable machine name, kebab-case: `context-length`, `model-not-found`, … */
  readonly reason: Reason<B>;
  /** The fix: what the user can do. One sentence. */
  readonly fix?: string;
  /** False if the same call would always fail again. Default false. */
  readonly retryable?: boolean;
  /** No retry before this many milliseconds: a server's own Retry-After. */
  readonly retryAfterMs?: number;
  /** The fault of an answer, always in the same form: `meta_info missing`. Three equal ones for a turn are enough. */
  readonly flaw?: string;
  /** The url of the server that answered. */
  readonly server?: string;
  /** The last lines of a user's program on its own fault: a traceback. Foreign text. */
  readonly trace?: string;
  /** The call surely did not reach the code that it was for. Default false. */
  readonly untaken?: boolean;
  /** This worker lacks something that another one may have. Default false. */
  readonly ofThisWorker?: boolean;
  readonly cause?: unknown;
}

export abstract class EverturnError extends Error {
  abstract readonly boundary: Boundary;
  readonly reason: Reason;
  readonly fix: string | undefined;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly flaw: string | undefined;
  readonly server: string | undefined;
  readonly trace: string | undefined;
  readonly untaken: boolean;
  readonly ofThisWorker: boolean;

  constructor(message: string, details: ErrorDetails) {
    super(message, { cause: details.cause });
    this.name = new.target.name;
    this.reason = details.reason;
    this.fix = details.fix;
    this.retryable = details.retryable ?? false;
    this.retryAfterMs = details.retryAfterMs;
    this.flaw = details.flaw;
    this.server = details.server;
    this.trace = details.trace;
    this.untaken = details.untaken ?? false;
    this.ofThisWorker = details.ofThisWorker ?? false;
  }
}

/** The base of a boundary's class: binds it to the reasons of its boundary. */
function errorAt<B extends Boundary>(boundary: B) {
  return class extends EverturnError {
    readonly boundary = boundary;
    declare readonly reason: Reason<B>;

    // oxlint-disable-next-line no-useless-constructor -- it narrows the type of the details
    constructor(message: string, details: ErrorDetails<B>) {
      super(message, details);
    }
  };
}

/** A flag, a config value or a name that the user gave (exit 2). */
export class UsageError extends errorAt('usage') {}
/** The data set as a whole cannot be used (exit 6). */
export class DatasetError extends errorAt('dataset') {}
/** The model, its tokenizer or its server (exit 5). */
export class ModelError extends errorAt('model') {}
/** The Temporal server, its binary or its connection (exit 4). */
export class TemporalError extends errorAt('temporal') {}
/** The judge could not run: never a wrong answer. */
export class JudgeError extends errorAt('judge') {}
/** A user's own environment: never a wrong answer (exit 2, because it is found when a run is started). */
export class EnvironmentError extends errorAt('environment') {}
/** A tool of the run: never a result that the model is told (exit 2, because it is found when a run is started). */
export class AgentError extends errorAt('agent') {}

export class ToolError extends errorAt('tool') {}
/** The run's folder: unreadable, full, or with unexpected content (exit 1). */
export class StoreError extends errorAt('store') {}
/** A sandbox is required and absent (exit 7). */
export class SandboxError extends errorAt('sandbox') {}
/** A bug of ours (exit 1). */
export class InternalError extends errorAt('everturn') {}

/** The text for a terminal or a log: the message, its fix, and its causes in one line; a traceback in further lines. */
export function explain(error: unknown): string {
  const parts: string[] = [];
  for (let e: unknown = error, depth = 0; e != null && depth < 5; depth++) {
    const message = e instanceof Error ? e.message : typeof e === 'string' ? e : typeName(e);
    // Only the first line of a cause: parsers draw pictures below it.
    const firstLine = depth === 0 ? message : message.split('\n', 1)[0]!;
    if (firstLine && !parts.some((p) => p.includes(firstLine))) parts.push(firstLine);
    // Node's failed connections are an AggregateError without a message of its own.
    e = e instanceof AggregateError ? (e.cause ?? e.errors[0]) : e instanceof Error ? e.cause : undefined;
  }
  const last = parts.length - 1;
  const text = parts.map((part, i) => (i < last ? part.replace(/\.$/, '') : part)).join(': ');
  if (!(error instanceof EverturnError)) return text;
  const fix = error.fix ? `${/[.!?\n]$/.test(text) ? '' : '.'} ${error.fix}` : '';
  return `${text}${fix}${error.trace ? `\n${error.trace}` : ''}`;
}

/** The message of the first cause. */
export function deepestMessage(error: unknown): string {
  let e = error;
  while (e instanceof Error && e.cause instanceof Error) e = e.cause;
  return e instanceof Error ? e.message : String(e);
}

/** Any thrown value as text, without running code of its own. */
function typeName(value: unknown): string {
  return typeof value === 'object' || typeof value === 'function'
    ? Object.prototype.toString.call(value)
    : String(value);
}
