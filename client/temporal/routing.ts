// Whether the work of runs goes to a worker that is up. With Temporal's worker versioning the server routes new work to one
// version, or to the workers without one, and a rollout to the version that began it: where no worker of that polls,
// workflows wait for ever, and no call of a client fails.

import { TASK_QUEUE } from '../../domain/names/queues.ts';
import type { Session } from './connection.ts';
import { currentCommand, type DeploymentVersion } from './deployment.ts';
import type { DescribedWorkflow } from './in-flight.ts';
import { describeQueue } from './workers.ts';

/** temporal.api.enums.v1: WorkerVersioningMode, VersioningBehavior. */
const VERSIONED = 2;
const PINNED = 1;

/** Null: workers without a version. */
type Version = DeploymentVersion | null;

interface Routing {
  /** They get new work. */
  readonly current: Version;
  /** It gets a part of it; undefined where there is none. */
  readonly ramping: Version | undefined;
  /** The versions of the workers that are up; the one that polled last comes first. */
  readonly there: readonly Version[];
}

/** The reason and the command that mends it; undefined where a worker gets new work, none is up, or nobody answers. */
export async function misrouted(session: Session): Promise<string | undefined> {
  const routing = await routingOf(session);
  if (!routing) return undefined;
  const { current, ramping, there } = routing;
  const served = has(there, current) || (ramping !== undefined && has(there, ramping));
  return there.length === 0 || served ? undefined : unserved(current, there, session.namespace);
}

/** The same of rollouts that are pinned to the version that began them. `described`: some that are in flight. */
export async function stranded(
  session: Session,
  run: string,
  described: readonly DescribedWorkflow[],
): Promise<string | undefined> {
  const pinned = described.flatMap(({ raw }) => {
    const info = raw.workflowExecutionInfo?.versioningInfo;
    const version = info?.behavior === PINNED ? versionOf(info.deploymentVersion) : null;
    return version ?? [];
  });
  const routing = pinned.length > 0 ? await routingOf(session) : undefined;
  const left = routing && pinned.find((version) => !has(routing.there, version));
  if (!left) return undefined;
  const where = session.namespace === 'default' ? '' : ` --namespace ${session.namespace}`;
  const version = `${left.deploymentName}:${left.buildId}`;
  const query = `EverturnRun = "${run}" AND ExecutionStatus = "Running" AND TemporalWorkerDeploymentVersion = "${version}"`;
  return (
    `Rollouts began on version ${left.buildId} of ${left.deploymentName}, and no worker of it is up: they wait for one. ` +
    'Start one, or let the current version play them: ' +
    `temporal workflow update-options${where} --query '${query}' --versioning-override-behavior auto_upgrade. Nothing is lost meanwhile.`
  );
}

async function routingOf(session: Session): Promise<Routing | undefined> {
  const found = await describeQueue(session, TASK_QUEUE);
  if (!found) return undefined;
  const { pollers, versioningInfo: said } = found;
  const live = pollers
    .map(({ lastAccessTime, deploymentOptions: own }) => ({
      at: Number(lastAccessTime?.seconds ?? 0),
      version: own?.workerVersioningMode === VERSIONED ? versionOf(own) : null,
    }))
    .sort((a, b) => b.at - a.at);
  const ramps = (said?.rampingVersionPercentage ?? 0) > 0;
  return {
    current: versionOf(said?.currentDeploymentVersion),
    ramping: ramps ? versionOf(said?.rampingDeploymentVersion) : undefined,
    there: live.map(({ version }) => version),
  };
}

interface Wire {
  readonly deploymentName?: string | null;
  readonly buildId?: string | null;
}

function versionOf(said: Wire | null | undefined): Version {
  return said?.deploymentName && said.buildId ? { deploymentName: said.deploymentName, buildId: said.buildId } : null;
}

const has = (all: readonly Version[], wanted: Version): boolean =>
  all.some((one) => one?.deploymentName === wanted?.deploymentName && one?.buildId === wanted?.buildId);

function unserved(current: Version, there: readonly Version[], namespace: string): string {
  const versions = there.filter((one) => one !== null);
  const builds = [...new Set(versions.map(({ deploymentName, buildId }) => `${buildId} of ${deploymentName}`))];
  const [latest] = versions;
  const what =
    current === null
      ? `New work goes to workers without a version, and those that are up have one (${builds.join(', ')})`
      : `New work goes to version ${current.buildId} of ${current.deploymentName}, and no worker of it is up`;
  const command = latest
    ? `Make the version of a worker that is up current: ${currentCommand(latest, namespace)}.`
    : `Start workers of it, or give the work to those without a version: ${currentCommand({ ...current!, buildId: null }, namespace)}.`;
  return `${what}: nothing is played. ${command} Nothing is lost meanwhile.`;
}
