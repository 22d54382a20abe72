// The programs that ask a run's queue for calls of its functions: the server remembers who, and a second one is refused. Not noticed:
// one that began in the same second, and one that is busy with as many calls at once as it takes, which asks for none.

import { hostname } from 'node:os';
import { activityPollers, POLLER_SECONDS } from '../client/temporal/workers.ts';
import type { Session } from '../client/temporal/connection.ts';
import { UsageError } from '../domain/errors/errors.ts';
import { functionQueue } from '../domain/names/queues.ts';
import { oneLine } from '../domain/text/foreign-text.ts';
import { identify, isAlive } from '../local/machine/process.ts';

/** `4711@host 8123 ~/.everturn`: the process, the time of its start, and its home. */
export const programIdentity = (home: string): string =>
  `${process.pid}@${hostname()} ${encodeURIComponent(identify(process.pid)?.startTime ?? '')} ${home}`;

/**
 * Throws a UsageError (`still-played`) while another program answers for the run. One of this machine counts while its process
 * lives, and not if it has this home, whose lock has told. The end of one elsewhere shows only once it has not asked for a while.
 */
export async function mustBeAlone(session: Session, run: string, home: string): Promise<void> {
  for (const { identity, secondsAgo } of await activityPollers(session, functionQueue(run))) {
    const { who, pid, isHere, hasEnded, itsHome } = programOf(identity);
    if (hasEnded || (isHere && itsHome === home)) continue;
    const where = isHere ? `process ${pid}` : `${oneLine(who)}, which asked for calls ${secondsAgo} s ago`;
    throw answered(run, where, isHere ? '' : ` ${POLLER_SECONDS} s after its end`);
  }
}

function programOf(identity: string) {
  const [who = '', startTime = '', ...its] = identity.split(' ');
  const [pid, host] = who.split('@');
  const isHere = host === hostname();
  const hasEnded = isHere && !isAlive({ pid: Number(pid), startTime: decodeURIComponent(startTime) });
  return { who, pid, isHere, hasEnded, itsHome: its.join(' ') };
}

/** Whether no program answers for the calls of this queue. One that is busy with as many as it takes asks for none. */
export async function isUnanswered(session: Session, queue: string, isWaiting: boolean): Promise<boolean> {
  const pollers = await activityPollers(session, queue);
  return pollers.length === 0 ? isWaiting : pollers.every(({ identity }) => programOf(identity).hasEnded);
}

export const answered = (run: string, by: string, later = ''): UsageError =>
  new UsageError(`Another program answers for the functions of run "${run}": ${by}.`, {
    reason: 'still-played',
    fix: `Wait for it, or end it: the run then goes on with this one${later}.`,
  });
