// What everything in a simulated run shares, and how a workflow looks to the others.

import type { Clock } from './clock.ts';
import type { Task } from './history.ts';
import type { Plan } from './plan.ts';
import type { Random } from './random.ts';
import type { Sandbox } from './sandbox.ts';
import type { ModelStore } from './store.ts';
import type { Job } from './wire.ts';

export interface World {
  readonly plan: Plan;
  readonly random: Random;
  readonly clock: Clock;
  readonly store: ModelStore;
  readonly sandbox: Sandbox;
  /** Workflow ids whose end was kept before: by a task that was lost, or by a workflow that was started over. */
  readonly endedInVain: Set<string>;
  /** By workflow id: the newest of each. */
  readonly executions: Map<string, Execution>;
  /** An activity begins, or a continued history (`renewal`): whether somebody waits for it, and how it is held up. */
  ambush(activity: string): 'slow' | 'backoff' | undefined;
  /** Counts a transition of the table. */
  saw(transition: string): void;
  /** One line of the readable trace; what is not wanted is not made. */
  trace(line: () => string): void;
}

export type Closing = 'completed' | 'failed' | 'cancelled' | 'terminated';

/** A workflow id's newest run. */
export interface Execution {
  readonly workflowId: string;
  /** Undefined while it is open. */
  readonly closing: Closing | undefined;
  /** Completed ones; empty for a stand-in. */
  readonly tasks: readonly Task[];
  deliver(job: Job): void;
  /** False when there is nothing left to cancel. */
  cancel(): boolean;
  terminate(): void;
}

/** Whether somebody went back in a history, and maybe behind an end that was kept. */
export function wasReset({ plan }: World): boolean {
  return plan.interferences.some(({ deed }) => deed === 'reset');
}
