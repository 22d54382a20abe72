// The contract between the supervisor and its child over Node's IPC channel: the child reports that it is ready, and
// ends when its parent is gone, however that died. Both do nothing in a process started otherwise.

const READY = { everturn: 'ready' } as const;

/** Child: reports that it takes work from now on. */
export function tellReady(): void {
  if (process.connected) process.send?.(READY);
}

/** Parent: whether a child's message is `tellReady`. */
export function isReady(message: unknown): boolean {
  return (
    typeof message === 'object' && message !== null && 'everturn' in message && message.everturn === READY.everturn
  );
}

/**
 * Child: calls `stop` once when the parent is gone, and exits `graceMs` later at the latest. The kernel closes the
 * channel when the parent dies, also by kill -9. Does not keep the process alive.
 */
export function endWithParent(stop: () => void, graceMs = 5_000): void {
  if (!process.send) return;
  const end = (): void => {
    setTimeout(() => process.exit(1), graceMs).unref();
    stop();
  };
  if (!process.connected) return end();
  process.once('disconnect', end);
  process.channel?.unref();
}
