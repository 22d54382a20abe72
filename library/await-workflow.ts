// Waits for a workflow to close, while server, worker and connection may come and go: a local service that has ended is started
// again.

import { once, setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeWorkflow } from '../client/temporal/runs.ts';
import type { MemoProgress, WorkflowState } from '../domain/run/messages.ts';
import type { OnProgress } from '../local/machine/progress.ts';
import type { Link } from '../local/service/link.ts';
import { GIVE_UP_MS, serverAway } from './await-run.ts';

export type Closed = Exclude<WorkflowState, 'running'>;

export interface Looks {
  readonly everyMs: number;
  readonly onStep: OnProgress;
  /** At a workflow that is open: whether one of its workers answered. */
  look(memo: MemoProgress | null): Promise<boolean>;
  /** None has since then; `error`: nor has the server. */
  onSilence(sinceMs: number, error: unknown): Promise<void>;
}

/** How it closed; `detached` if the signal was aborted before. */
export async function untilClosed(
  { signal, now }: { readonly signal: AbortSignal; readonly now: () => number },
  link: Link,
  workflowId: string,
  { everyMs, onStep, look, onSilence }: Looks,
): Promise<Closed | 'detached'> {
  // One signal for the cells of an evaluation: each waits for it until its own end.
  setMaxListeners(0, signal);
  const end = new AbortController();
  const detached = () => 'detached' as const;
  const left = Promise.resolve(signal.aborted || once(signal, 'abort', { signal: end.signal })).then(
    detached,
    detached,
  );
  async function closed(): Promise<Closed | 'detached'> {
    for (let answeredMs = now(); !signal.aborted; await sleep(everyMs, undefined, { signal }).catch(() => {})) {
      let error: unknown;
      let answered = false;
      try {
        await link.keepUp(onStep);
        const { state, memo } = await describeWorkflow(link.session, workflowId, 1);
        if (state !== 'running') return state;
        answered = await look(memo);
      } catch (caught) {
        if (now() - answeredMs > GIVE_UP_MS) throw serverAway(`"${workflowId}"`, caught);
        error = caught;
      }
      if (answered) answeredMs = now();
      else if (!signal.aborted) await onSilence(answeredMs, error);
    }
    return 'detached';
  }
  return Promise.race([closed(), left]).finally(() => end.abort());
}
