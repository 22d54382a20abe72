// Checks of Temporal: the cluster that is named, with its namespace, search attributes and workers; or the local
// service, and the binary or the Go that it needs. Changes nothing on a server.

import { namesCluster } from '../../client/temporal/cluster-settings.ts';
import { connect, type Session } from '../../client/temporal/connection.ts';
import { misrouted } from '../../client/temporal/routing.ts';
import { takesActivities, workersOf } from '../../client/temporal/workers.ts';
import { missingSearchAttributes } from '../../client/temporal/search-attributes.ts';
import { CODE_QUEUE, GENERATE_QUEUE, TASK_QUEUE } from '../../domain/names/queues.ts';
import { GO_NEEDED, goVersion } from '../../local/service/binary/build.ts';
import { installedTemporal } from '../../local/service/binary/find.ts';
import { serviceStatus } from '../../local/service/service.ts';
import { EXIT } from '../exit.ts';
import type { Io } from '../io.ts';
import { workOf } from '../../run/require-worker.ts';
import { slotsText, takenText } from '../view/servers.ts';
import { type Check, fail, type Finding, note, ok } from './check.ts';

export function temporalCheck(io: Io, maxConcurrent: number): Check {
  return {
    ...{ name: 'Temporal', code: EXIT.temporal, withinMs: 60_000 },
    run: async () => (namesCluster() ? cluster(maxConcurrent) : local(io, maxConcurrent)),
  };
}

async function cluster(maxConcurrent: number): Promise<Finding[]> {
  const session = await connect(undefined, { firstMs: 10_000 });
  try {
    const { address, namespace } = session;
    const findings: Finding[] = [ok(`${address}, namespace ${namespace}, answers`)];
    const missing = await missingSearchAttributes(session.client.connection, namespace);
    const adds = '`everturn run` adds them if it may; else it prints the command for an administrator.';
    if (missing.length > 0) findings.push(note(`search attributes ${missing.join(', ')} are missing`, adds));
    for (const queue of [TASK_QUEUE, GENERATE_QUEUE, CODE_QUEUE]) {
      const takes = await takesActivities(session, queue);
      const { what, fix } = workOf(queue)!;
      if (takes === true) findings.push(ok(`a worker takes ${queue}`));
      else if (takes === false) findings.push(note(`no worker takes ${queue} (${what.toLowerCase()})`, fix));
    }
    const elsewhere = await misrouted(session);
    if (elsewhere !== undefined) findings.push(noteOf(elsewhere));
    return [...findings, ...(await slots(session, maxConcurrent))];
  } finally {
    await session.close();
  }
}

/** Generations that the workers take at once, against the rollouts that a run with these options has in flight. */
async function slots(session: Session, maxConcurrent: number): Promise<Finding[]> {
  const found = await workersOf(session);
  if (!found || found.workers === 0) return [];
  const few = slotsText(maxConcurrent, found);
  return [few === undefined ? ok(takenText(found)) : noteOf(few)];
}

/** A text whose first sentence says what is the case, and whose others say what to do. */
function noteOf(text: string): Finding {
  const [said, ...fix] = text.split(/(?<=\.) /);
  return note(said!.replace(/\.$/, ''), fix.join(' '));
}

async function local(io: Io, maxConcurrent: number): Promise<Finding[]> {
  const { up, state } = serviceStatus(io.env);
  const findings: Finding[] = [];
  if (up && state) {
    const session = await connect({ address: state.address, namespace: 'default' }, { firstMs: 10_000 });
    findings.push(ok(`the local service at ${state.address} answers (Temporal ${state.temporal.version})`));
    findings.push(...(await slots(session, maxConcurrent).finally(() => session.close())));
  } else findings.push(ok('no cluster is named: `everturn run` starts a local service'));
  const found = await installedTemporal(io.env);
  if ('path' in found) return [...findings, ok(`${found.path}, ${found.version} (${found.source})`)];
  const go = await goVersion(io.env);
  const install =
    'Install the Temporal CLI (https://docs.temporal.io/cli), name one by EVERTURN_TEMPORAL_CLI, or name a cluster by TEMPORAL_ADDRESS.';
  findings.push(
    'version' in go
      ? note(
          'no Temporal server is installed',
          `The first run downloads one, or compiles it with ${go.version} for 3 to 7 minutes on two cores, with up to 4 GB of Go's caches, which \`go clean -cache -modcache\` clears. ${install}`,
        )
      : fail(
          `no Temporal server is installed, and ${go.problem}`,
          `The first run can only try a download. ${install} Or install Go ${GO_NEEDED}.`,
        ),
  );
  return findings;
}
