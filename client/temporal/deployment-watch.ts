// Reports when a worker's version of a deployment gets no new work, and when it gets some again: a version that
// nobody made current waits silently otherwise.

import type { Session } from './connection.ts';
import { currentCommand, type DeploymentVersion } from './deployment.ts';

const EVERY_MS = 10_000;
const DEADLINE_MS = 5_000;

/** Says so when this version gets no new work, and when it gets some. A cluster that may not be asked is not. */
export function watchDeployment(
  { client, namespace }: Session,
  version: DeploymentVersion,
  say: (line: string) => void,
  everyMs = EVERY_MS,
): { close(): void } {
  const { deploymentName, buildId } = version;
  let said: string | undefined;
  const look = async () => {
    const call = () => client.connection.workflowService.describeWorkerDeployment({ namespace, deploymentName });
    const { workerDeploymentInfo } = await client.connection.withDeadline(Date.now() + DEADLINE_MS, call);
    const routing = workerDeploymentInfo?.routingConfig;
    const current = routing?.currentDeploymentVersion?.buildId ?? null;
    const used = buildId === current || buildId === routing?.rampingDeploymentVersion?.buildId;
    const line = used ? `Version ${buildId} of ${deploymentName} takes new work.` : unused(version, current, namespace);
    if (line === said) return;
    said = line;
    say(line);
  };
  // Not registered before its first poll.
  const timer = setInterval(() => void look().catch(() => undefined), everyMs).unref();
  return { close: () => clearInterval(timer) };
}

function unused(version: DeploymentVersion, current: string | null, namespace: string): string {
  const { deploymentName, buildId } = version;
  const what =
    current === null
      ? `No version of ${deploymentName} is current: ${buildId} gets no work`
      : `Version ${current} of ${deploymentName} is current: ${buildId} gets only the rollouts that it began`;
  return `${what}. To make it current: ${currentCommand(version, namespace)}`;
}
