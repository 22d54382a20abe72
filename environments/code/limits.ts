// The limits of one program. Each is enforced by the kernel or from outside, never by the program's own process.

export interface CodeLimits {
  /** Per case, from the start of the program. */
  readonly wallMs: number;
  /** Processor time per case, all threads together. */
  readonly cpuSeconds: number;
  /** Address space of the program's only process. */
  readonly memoryBytes: number;
  /** Printed by one case, on each of both streams. */
  readonly outputBytes: number;
  /** The writable folder `/tmp`, which is a tmpfs and deleted after the case. */
  readonly diskBytes: number;
  /** Files and folders in `/tmp`; if the kernel cannot limit them, they are counted every COUNT_MS. */
  readonly files: number;
  readonly openFiles: number;
  readonly threads: number;
  /** All cases of one program together. */
  readonly programWallMs: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_LIMITS: CodeLimits = {
  wallMs: 12_000,
  cpuSeconds: 6,
  memoryBytes: 512 * MIB,
  outputBytes: 8 * MIB,
  diskBytes: 16 * MIB,
  files: 1000,
  openFiles: 64,
  threads: 16,
  programWallMs: 60_000,
};

/** No right output is much longer than the expected one: the rest is not read. */
export function outputLimit(expectedBytes: number, { outputBytes }: CodeLimits): number {
  return Math.min(outputBytes, 64 * 1024 + 16 * expectedBytes);
}

/** A sandbox that has not started by then is broken, or the machine is: not the program's fault. */
export const START_LIMIT_MS = 30_000;

/** Interval of the observation from outside; shorter if files must be counted. */
export const WATCH_MS = 100;
export const COUNT_MS = 25;

/**
 * The limit of a program that the machine gives no processor: it is waited for as long as it gets a fiftieth of its time, since
 * another try would begin again. Below the half hour of an activity.
 */
export const mostElapsedMs = (wallMs: number): number => Math.max(wallMs, Math.min(50 * wallMs, 28 * 60_000));
