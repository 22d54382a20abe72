// Updates that no task of a worker answered: the server gives them back where a task was lost on its way. Such an Update
// has no effect, and is sent again.

import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowUpdateFailedError } from '@temporalio/client';

/** About five seconds in all. */
const TRIES = 10;
const FIRST_MS = 20;

/** The server has no code for this. */
export const wasUnseen = (error: unknown): boolean =>
  error instanceof WorkflowUpdateFailedError &&
  /wasn't processed by worker/.test(error.cause?.message ?? error.message);

/** `update`: sends it once. Throws its last failure. */
export async function untilSeen<T>(update: () => Promise<T>): Promise<T> {
  for (let n = 0; ; n++) {
    try {
      return await update();
    } catch (error) {
      if (!wasUnseen(error) || n + 1 >= TRIES) throw error;
      await sleep(FIRST_MS * 1.6 ** n);
    }
  }
}
