// The workflow types that a worker serves: part of the contract.

export { block } from './block.ts';
export { collection } from './collection.ts';
export { feed } from './feed.ts';
export { rollout } from './rollout.ts';
export { updateWeights } from './update-weights.ts';
