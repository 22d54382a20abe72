// The time of one call to a user's environment: it ends by its time limit or by an abort, whatever the other side does.

import { EnvironmentError } from '../../domain/errors/errors.ts';

export interface CallLimits {
  readonly signal?: AbortSignal;
  readonly timeoutMs: number;
}

/** `who`: the environment, for messages. The work itself is not ended: the caller ends it. */
export async function inTime<T>(
  who: string,
  method: string,
  { signal, timeoutMs }: CallLimits,
  work: () => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  let timer: NodeJS.Timeout | undefined;
  let aborted: (() => void) | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(
        new EnvironmentError(`The environment ${who} did not answer \`${method}\` in ${timeoutMs / 1000} s.`, {
          reason: 'environment-timeout',
          fix:
            method === 'hello'
              ? 'The first line of a command is its hello, before it reads a call.'
              : 'It may say another `timeoutSeconds` in hello.',
          retryable: true,
        }),
      );
    }, timeoutMs);
    aborted = () => reject(signal!.reason);
    signal?.addEventListener('abort', aborted, { once: true });
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
    if (aborted) signal?.removeEventListener('abort', aborted);
  }
}
