// How long this process computed. A limit of milliseconds on a clock fails on a busy machine; one on the processor does not.

/** Milliseconds of processor time that `work` took, the garbage collector's threads included. */
export function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
