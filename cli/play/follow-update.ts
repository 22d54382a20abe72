// Follows an update of weights until its workflow closes, whatever happens to server, worker or connection meanwhile.

import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerUpdate, WeightsResult } from '../../domain/weights/weights.ts';
import { isServerFailure } from '../../client/temporal/connection.ts';
import { misrouted } from '../../client/temporal/routing.ts';
import { describeWorkflow } from '../../client/temporal/runs.ts';
import { type StartedUpdate, updateProgress, updateResult } from '../../client/temporal/weights.ts';
import type { Link } from '../find/link.ts';
import { type Io, say } from '../io.ts';

const POLL_MS = 200;
const STILL_MS = 15_000;
const GIVE_UP_MS = 15 * 60_000;

/** `onServer`: each server once, when its part is done. */
export async function followUpdate(
  io: Io,
  link: Link,
  update: StartedUpdate,
  onServer: (server: ServerUpdate) => void,
): Promise<WeightsResult | 'detached'> {
  const leave = io.interrupted();
  const said = new Set<string>();
  const tell = (servers: readonly ServerUpdate[]) => {
    for (const server of servers.filter(({ url }) => !said.has(url))) {
      said.add(server.url);
      onServer(server);
    }
  };
  let answeredAt = Date.now();
  let warned = false;
  while (!leave.aborted) {
    try {
      await link.keepUp(() => undefined);
      const { state } = await describeWorkflow(link.session, update.workflowId, 1);
      if (state !== 'running') break;
      const progress = await updateProgress(link.session, update);
      if (progress) {
        tell(progress.servers);
        answeredAt = Date.now();
      }
    } catch (error) {
      if (!isServerFailure(error) || Date.now() - answeredAt > GIVE_UP_MS) throw error;
    }
    if (!warned && Date.now() - answeredAt > STILL_MS) {
      warned = true;
      const elsewhere = await misrouted(link.session);
      say(io, elsewhere ?? 'No worker answers: `everturn worker` starts one. The update waits, and goes on then.');
    }
    await sleep(POLL_MS);
  }
  if (leave.aborted) return 'detached';
  const result = await updateResult(link.session, update);
  tell(result.servers);
  return result;
}
