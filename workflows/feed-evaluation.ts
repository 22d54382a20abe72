// Held-out evaluations of a training run: each due version of its weights is played by a collection of its own, which shares
// slots and servers with the run and outlives its feed. Guarantees: one of each version, whatever is lost. An evaluation
// that cannot begin holds no trainer back.

import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { isCancellation, log, ParentClosePolicy, startChild } from '@temporalio/workflow';
import { evaluationName, evaluationsFolder } from '../domain/run/evaluation.ts';
import { lineOfVersion } from '../domain/feed/line.ts';
import type { FeedInput } from '../domain/feed/messages.ts';
import type { FeedState } from '../domain/feed/state.ts';
import { steeringPriority, TASK_QUEUE } from '../domain/names/queues.ts';
import { collection } from './collection.ts';
import { openEvaluation } from './feed-steps.ts';
import { RUN_ATTRIBUTE } from './search-attributes.ts';

/** Starts the evaluation of the version that is published, if it is due. */
export async function startEvaluation({ run, out }: FeedInput, { shape, version, floors }: FeedState): Promise<void> {
  if (shape.evaluateEvery === undefined || version % shape.evaluateEvery !== 0) return;
  const line = lineOfVersion(version, floors);
  const [name, folder] = [evaluationName(run, line, version), evaluationsFolder(`${out}/${run}`)];
  try {
    const opened = await openEvaluation({ run, out, version, line });
    if (opened === null) return;
    await startChild(collection, {
      workflowId: name,
      taskQueue: TASK_QUEUE,
      args: [{ run: name, out: folder, ...opened }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      staticSummary: `held-out evaluation of version ${version}`,
      memo: { out: folder },
      priority: steeringPriority(name),
      typedSearchAttributes: [{ key: RUN_ATTRIBUTE, value: name }],
    });
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError || isCancellation(error)) return;
    log.error(`version ${version} is not evaluated: ${String(error)}`);
  }
}
