// The module `everturn/client`: a Temporal client starts, queries and steers rollouts and runs by these names and types
// (docs/temporal.md).

import type { RolloutResult } from '../domain/rollout/ending.ts';
import type { CollectionInput, CollectionProgress, CollectionResult, RolloutInput } from '../domain/run/messages.ts';

export { TASK_QUEUE } from '../domain/names/queues.ts';
export { collectionProgress, pause, resume, rolloutProgress, stop, tune, weightsProgress } from './messages.ts';
export type { CollectionInput, CollectionProgress, CollectionResult, RolloutInput, RolloutResult };

/** The type in `client.workflow.start<RolloutWorkflow>('rollout', { taskQueue: TASK_QUEUE, workflowId, args: [input] })`. */
export type RolloutWorkflow = (input: RolloutInput) => Promise<RolloutResult>;
export type CollectionWorkflow = (input: CollectionInput) => Promise<CollectionResult>;
