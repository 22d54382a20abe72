// The contract between the supervisor and a child it starts, over Node's IPC channel: the child says when it is
// ready, and ends when its parent is gone, however that died. Both do nothing in a process started otherwise.

const READY = { everturn: 'ready' } as const;

/** Child: from now on takes work. */
export function tellReady(): void {
  if (process.connected) process.send?.(READY);
}

/** Parent: whether a message of a child is `tellReady`. */
export function isReady(message: unknown): boolean {
  return (
    typeof message === 'object' && message !== null && 'everturn' in message && message.everturn === READY.everturn
  );
}

/**
 * Child: calls `stop` once when the parent is gone, and exits for good `graceMs` later. The parent's death closes
 * the channel in the kernel, so kill -9 counts too. Does not keep the process alive.
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
