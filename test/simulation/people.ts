// Who interferes with a run, and how: by updates, signals, queries, cancellation, termination and resets, when
// their moment has come. In the end they let everything go on, so that every run has to end.

import type { Cast } from './cast.ts';
import type { RealExecution } from './execution.ts';
import { childId } from './names.ts';
import type { Interference } from './plan.ts';
import { payload } from './wire.ts';
import type { Execution, World } from './world.ts';

export interface People {
  /** Does what is due. */
  interfere(): Promise<void>;
  /** Resumes all that is paused; false when it was done before and nobody paused since. */
  letAllGoOn(): Promise<boolean>;
  /** An activity begins: whether it was waited for, and how it is held up. */
  ambush(activity: string): 'slow' | 'backoff' | undefined;
}

export function openPeople(world: World, cast: Cast): People {
  const { plan, clock, random } = world;
  const due = plan.interferences.toSorted((a, b) => a.moment - b.moment);
  let updates = 0;
  let mayBePaused = false;
  let waitedFor = 0;

  const update = (execution: Execution, name: string, ...args: unknown[]) => {
    const id = `u${++updates}`;
    const input = args.map(payload);
    const doUpdate = { id, protocolInstanceId: id, name, input, headers: {}, meta: {}, runValidator: true };
    execution.deliver({ doUpdate });
  };

  async function act({ deed, target, maxConcurrent }: Interference): Promise<void> {
    const { main } = cast;
    const execution: Execution | undefined =
      target === 'main' ? main : world.executions.get(childId(target, plan.samples));
    if (!execution || (execution.closing && deed !== 'reset' && deed !== 'ask')) return;
    world.trace(() => `${execution.workflowId} ☝ ${deed}`);
    switch (deed) {
      case 'pause':
        mayBePaused = true;
        return update(execution, 'pause');
      case 'resume':
      case 'stop':
        return update(execution, deed);
      case 'tune':
        return update(execution, 'tune', { maxConcurrent });
      case 'tune-badly':
        return update(execution, 'tune', random.pick([{ maxConcurrent: 0 }, { maxConcurrent: 1.5 }, null, {}]));
      case 'cancel':
        return void execution.cancel();
      case 'signal':
        return execution.deliver({ signalWorkflow: { signalName: 'hello', input: [] } });
      case 'terminate':
        return execution.terminate();
      case 'ask':
        await main.ask('progress');
        return;
      case 'reset':
        return reset(main);
    }
  }

  /** To the end of a task after which nothing was asked of any child: what a server allows everywhere. */
  function reset(execution: RealExecution): void {
    const first = execution.tasks.findIndex((task) =>
      task.steps.some((s) => s.commands.some((c) => c.startChildWorkflowExecution)),
    );
    const most = first < 0 ? execution.tasks.length : first;
    const last = execution.closing ? Math.min(most, execution.tasks.length - 1) : most;
    if (last < 1 || execution.closing === 'terminated') return;
    world.saw(execution.closing ? 'reset: after the end' : 'reset: while it runs');
    cast.reset(execution, random.int(1, last));
  }

  return {
    async interfere() {
      while (due.length > 0 && due[0]!.moment <= clock.moments) await act(due.shift()!);
    },
    ambush(activity) {
      const { ambush } = plan;
      if (ambush?.activity !== activity || ++waitedFor !== ambush.nth) return undefined;
      for (const deed of ambush.deeds) {
        clock.after(activity === 'renewal' ? 0 : random.int(1, 7000), () =>
          act({ deed, target: 'main', moment: 0, maxConcurrent: random.int(1, 6) }),
        );
      }
      return ambush.hold;
    },
    async letAllGoOn() {
      if (!mayBePaused && due.length === 0) return false;
      mayBePaused = false;
      for (const interference of due.splice(0)) if (interference.deed !== 'pause') await act(interference);
      const open = [...world.executions.values()].filter((e) => !e.closing);
      for (const execution of open) update(execution, 'resume');
      return open.length > 0;
    },
  };
}
