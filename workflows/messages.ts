// The queries and updates of the workflow types, by the names that any client uses.

import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { BlockReport, Order } from '../domain/run/blocks.ts';
import type { RolloutProgress, CollectionProgress, Tuning } from '../domain/run/messages.ts';
import type { CallCounts } from '../domain/rollout/rollout-facts.ts';
import type { WeightsProgress } from '../domain/weights/weights.ts';

export const rolloutProgress = defineQuery<RolloutProgress>('progress');
export const collectionProgress = defineQuery<CollectionProgress>('progress');
export const weightsProgress = defineQuery<WeightsProgress>('progress');
export const pause = defineUpdate<void>('pause');
export const resume = defineUpdate<void>('resume');
export const stop = defineUpdate<void>('stop');
export const tune = defineUpdate<void, [Tuning]>('tune');
/** The agent of a rollout has made calls. */
export const agentCalls = defineSignal<[CallCounts]>('agentCalls');
/** The run's feed says how many groups may have begun in all. */
export const admit = defineSignal<[number]>('admit');
/** The collection tells its feed that it has begun, and needs that number. */
export const collectionBegan = defineSignal('collectionBegan');
/** The orders of a large run's root to one of its blocks. */
export const orderBlock = defineSignal<[Order]>('order');
/** The reports of a block to its root. */
export const blockReport = defineSignal<[BlockReport]>('blockReport');
