// Worker deployment versions of Temporal, for operators that replace workers by version: a worker that is given a
// deployment and a build is one version of it, and takes work only where that version is the one in use. Rollouts stay
// with the version that began them, runs and feeds move to the current one (workflows/index.ts). Without the two
// variables a worker has no version, and old and new workers share all work.

import type { WorkerDeploymentOptions } from '@temporalio/worker';
import { UsageError } from '../../domain/errors/errors.ts';
import type { Session } from './connection.ts';

/** Temporal's worker controller for Kubernetes sets these names. */
const NAME = 'TEMPORAL_DEPLOYMENT_NAME';
const BUILD = 'TEMPORAL_WORKER_BUILD_ID';

export type DeploymentVersion = WorkerDeploymentOptions['version'];

/** The version that these variables name; undefined if none is set. */
export function deploymentOf(env: NodeJS.ProcessEnv): DeploymentVersion | undefined {
  const [deploymentName, buildId] = [env[NAME] ?? '', env[BUILD] ?? ''];
  if (deploymentName === '' && buildId === '') return undefined;
  if (deploymentName === '' || buildId === '') {
    const [given, missing] = deploymentName === '' ? [BUILD, NAME] : [NAME, BUILD];
    throw new UsageError(`${given} is set, and ${missing} is not.`, {
      reason: 'bad-value',
      fix: 'A version of a worker deployment needs both; a worker without versions has neither.',
    });
  }
  for (const [name, value] of [
    [NAME, deploymentName],
    [BUILD, buildId],
  ] as const) {
    // Temporal joins the two by a colon, formerly by a dot, and has names of its own with two underscores. Its controller
    // for Kubernetes gives a deployment the name <namespace>/<name>.
    if (/^(?!__)[\w+=@-][\w.+=@/-]*$/.test(value) && value.length <= 200 && !(name === NAME && value.includes('.')))
      continue;
    throw new UsageError(`${name} is ${JSON.stringify(value)}.`, {
      reason: 'bad-value',
      fix: `It takes letters, digits, \`_\`, \`+\`, \`=\`, \`@\`, \`/\` and \`-\`${name === BUILD ? ', and `.`' : ''}: at most 200, and no two underscores at its begin.`,
    });
  }
  return { deploymentName, buildId };
}

/** Workflows that say nothing else move to the current version. */
export const deploymentOptions = (version: DeploymentVersion): WorkerDeploymentOptions => ({
  version,
  useWorkerVersioning: true,
  defaultVersioningBehavior: 'AUTO_UPGRADE',
});

/** Makes a version the one that gets new work; without a build, the workers without versions. */
export function currentCommand(
  { deploymentName, buildId }: { readonly deploymentName: string; readonly buildId: string | null },
  namespace: string,
): string {
  const where = namespace === 'default' ? '' : ` --namespace ${namespace}`;
  const which = buildId === null ? '--unversioned' : `--build-id ${buildId}`;
  return `temporal worker deployment set-current-version${where} --deployment-name ${deploymentName} ${which}`;
}

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
