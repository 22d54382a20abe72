// The judge could not run: the fault of a machine or of the judge, never of an answer, and no verdict.

interface Details {
  readonly reason: 'judge-closed' | 'judge-killed' | 'judge-process' | 'judge-stalled';
  readonly fix?: string;
  readonly retryable?: boolean;
}

export class JudgeError extends Error {
  readonly reason: Details['reason'];
  /** What the user can do. One sentence. */
  readonly fix: string | undefined;
  /** Another call may succeed. */
  readonly retryable: boolean;

  constructor(message: string, { reason, fix, retryable = false }: Details) {
    super(message);
    this.name = 'JudgeError';
    this.reason = reason;
    this.fix = fix;
    this.retryable = retryable;
  }
}
