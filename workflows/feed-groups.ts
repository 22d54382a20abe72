// The groups of a feed as they end: each is ready to be handed out, and a member that gave no sample is played again.

import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { condition, ParentClosePolicy, startChild } from '@temporalio/workflow';
import type { MemberToStart } from '../activities/groups.ts';
import type { FeedInput } from '../domain/feed/messages.ts';
import { countNumbers } from '../domain/feed/number-set.ts';
import { type FeedState, takeEndedGroups, nothingToCome } from '../domain/feed/state.ts';
import { rolloutWorkflowId } from '../domain/names/ids.ts';
import { runPriority, TASK_QUEUE } from '../domain/names/queues.ts';
import { watchGroups } from './feed-steps.ts';
import type { HistoryLength } from './history-length.ts';
import { rollout } from './rollout.ts';
import { QUERY_ATTRIBUTE, RUN_ATTRIBUTE } from './search-attributes.ts';

type Place = Pick<FeedInput, 'run' | 'out'>;

/** Ready groups, beyond which no more are looked for. */
const ENOUGH_READY = 10_000;

/** Resolves when no group of the run is still to come. */
export async function followGroups(
  { run, out }: Place,
  state: FeedState,
  { history, changed }: { readonly history: HistoryLength; changed(): void },
): Promise<void> {
  while (!nothingToCome(state)) {
    await condition(() => countNumbers(state.ready) < ENOUGH_READY);
    const { shape, playing, next, restarts } = state;
    history.did();
    const { ended, concluded, start } = await watchGroups({ run, out, shape, playing, next, restarts });
    takeEndedGroups(state, ended, concluded);
    for (const member of start) {
      history.did();
      await startMember({ run, out }, state, member);
    }
    changed();
  }
}

async function startMember(
  { run, out }: Place,
  { restarts }: FeedState,
  { group, index, query, sample, attempt }: MemberToStart,
): Promise<void> {
  const key = `${group}/${sample}`;
  restarts[key] = (restarts[key] ?? 0) + 1;
  try {
    await startChild(rollout, {
      workflowId: rolloutWorkflowId({ run, query, sample, attempt }),
      taskQueue: TASK_QUEUE,
      args: [{ run, out, index, sample, attempt }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      staticSummary: `group ${group}: try ${attempt} of sample ${sample}`,
      priority: runPriority(run),
      typedSearchAttributes: [
        { key: RUN_ATTRIBUTE, value: run },
        { key: QUERY_ATTRIBUTE, value: query },
      ],
    });
  } catch (error) {
    // It is being played: its records will say how it ended.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
