// Whether a run is being stopped, as the memo of its workflow says: written when a worker takes the order, before the
// cancellations of its rollouts go out. All of a process that ask for the same run share one answer for a second.
// Guarantees nothing: a run whose server does not answer soon, or that has no such memo, is not being stopped.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Session } from './connection.ts';
import { describeWorkflow, type WorkflowFacts } from './runs.ts';

export const SHARED_MS = 1000;
const LATE_MS = 1000;

export type IsStopping = (out: string, run: string) => Promise<boolean>;

export function openStopping(session: Pick<Session, 'client'>): IsStopping {
  const asked = new Map<string, Promise<WorkflowFacts | undefined>>();
  const ask = (run: string) => {
    const described = describeWorkflow(session, run, 1).catch(() => undefined);
    const facts = Promise.race([described, sleep(LATE_MS, undefined, { ref: false })]);
    void facts.then(() => setTimeout(() => asked.delete(run), SHARED_MS).unref());
    asked.set(run, facts);
    return facts;
  };
  return async (out, run) => {
    const facts = await (asked.get(run) ?? ask(run));
    // Another run of this name may be in another folder.
    const isOfRun = facts?.state === 'running' && (facts.out === null || facts.out === out);
    return isOfRun && facts.memo?.state === 'stopping';
  };
}
