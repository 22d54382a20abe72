// Asks a rollout's workflow for the turn of an agent's call, by an Update whose id is of the turn and the call: however often
// it is asked, it is played once. A server that is away is asked again until the caller gives up.

import { setTimeout as sleep } from 'node:timers/promises';
import {
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { AgentError } from '../../domain/errors/errors.ts';
import type { AskedTurn } from '../../domain/rollout/rollout-facts.ts';
import { isServerFailure, type Session } from './connection.ts';

const PAUSE_MS = { first: 100, most: 3_000 };

/** Resolves when the turn is recorded. Throws AgentError if the workflow has ended, or could not play it. */
export async function requestTurn(
  { client }: Pick<Session, 'client'>,
  workflowId: string,
  turn: AskedTurn,
  signal: AbortSignal,
): Promise<void> {
  const handle = client.workflow.getHandle(workflowId);
  for (let pause = PAUSE_MS.first; ; pause = Math.min(2 * pause, PAUSE_MS.most)) {
    try {
      return await handle.executeUpdate<void, [AskedTurn]>('askTurn', {
        args: [turn],
        updateId: `turn-${turn.turn}-${turn.call}`,
      });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof WorkflowUpdateFailedError || error instanceof WorkflowNotFoundError) {
        throw new AgentError(`Turn ${turn.turn} of the agent could not be played.`, {
          reason: 'agent-call-failed',
          cause: error,
        });
      }
      if (!(error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) && !isServerFailure(error)) throw error;
    }
    await sleep(pause, undefined, { signal });
  }
}
