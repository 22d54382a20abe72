// The two things a reader of a run's folder gets: a record with its hash, or a breach. Types only.

/** A record as stored, with the SHA-256 (hex) of its content. */
export interface Stored<T> {
  readonly record: T;
  readonly hash: string;
  /** False if an earlier put of the same name won. */
  readonly created: boolean;
}

/** A file that should not exist, or whose content is wrong. */
export interface Breach {
  /** Path relative to the run's folder. */
  readonly path: string;
  readonly problem: string;
}

export type OnBreach = (breach: Breach) => void;
