// A text of a run that holds what was looked for.

export interface Hit {
  readonly query: string;
  /** Null for a question, which all samples share. */
  readonly sample: number | null;
  readonly attempt: number | null;
  /** 1-based. */
  readonly turn: number | null;
  readonly where: 'question' | 'feedback' | 'answer' | 'extracted';
  /** Times that it occurs there. */
  readonly count: number;
  /** The first occurrence with what stands around it. */
  readonly before: string;
  readonly found: string;
  readonly after: string;
}
