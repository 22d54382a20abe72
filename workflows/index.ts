// The workflow types that a worker serves: part of the contract.

export { collection } from './collection.ts';
export { describeEnvironment } from './own-queue.ts';
export { feed } from './feed.ts';
export { rollout } from './rollout.ts';
export { updateWeights } from './update-weights.ts';
