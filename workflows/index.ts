// The workflow types that a worker serves. Their names are a contract with clients (docs/temporal.md).

import { setWorkflowOptions, workflowInfo } from '@temporalio/workflow';
import { rollout } from './rollout.ts';

export { block } from './block.ts';
export { collection } from './collection.ts';
export { describeEnvironment } from './own-queue.ts';
export { feed } from './feed.ts';
export { rollout };
export { updateWeights } from './update-weights.ts';

// With worker deployment versions (client/temporal/deployment.ts) a rollout is short, and ends on the version that began it. A
// server refuses a behavior from a worker without a version.
setWorkflowOptions(() => {
  const versioned = Boolean(workflowInfo().currentDeploymentVersion?.deploymentName);
  return versioned ? { versioningBehavior: 'PINNED' } : {};
}, rollout);
