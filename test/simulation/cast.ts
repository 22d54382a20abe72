// Who plays in a simulated run: the rollout or the collection that it is about, the collection's children, real
// ones or stand-ins, and rollouts that somebody started before. Each real one is watched by its specification.

import { openCollectionSpec } from './collection-spec.ts';
import { type ChildClosing, type Effects, openEffects, type StartChild } from './effects.ts';
import { openExecution, type RealExecution } from './execution.ts';
import { openRolloutSpec } from './rollout-spec.ts';
import { standIn } from './stand-in.ts';
import { type Command, valueOf } from './wire.ts';
import { childId, OUT, queryOf, RUN } from './names.ts';
import type { Execution, World } from './world.ts';

export interface Cast {
  readonly main: RealExecution;
  /** Real executions, by workflow id. */
  readonly real: ReadonlyMap<string, RealExecution>;
  reset(execution: RealExecution, tasks: number): void;
  dispose(): Promise<void>;
}

interface Watched {
  readonly execution: RealExecution;
  readonly effects: Effects;
  respec(): void;
}

export function startAll(world: World): Cast {
  const { plan } = world;
  const real = new Map<string, RealExecution>();
  const watched = new Map<string, Watched>();

  function start(
    workflowType: 'rollout' | 'collection',
    workflowId: string,
    input: { readonly index?: number; readonly sample?: number },
    searchAttributes: object | null,
    onClosed: (closing: ChildClosing) => void,
  ): RealExecution {
    const freshSpec = () =>
      workflowType === 'rollout'
        ? openRolloutSpec(world, workflowId, {
            query: queryOf(input.index ?? 0),
            sample: input.sample ?? 0,
            alone: !searchAttributes,
          })
        : openCollectionSpec(world);
    let spec = freshSpec();
    let effects: Effects | undefined;
    const execution = openExecution(world, { workflowId, workflowType, input, searchAttributes }, (self) => {
      effects = openEffects(world, self, startChild);
      return {
        committed: (task) => spec.committed(task),
        carryOut: (command) => effects!.carryOut(command),
        closed(command) {
          effects!.end();
          if (command?.continueAsNewWorkflowExecution) return;
          if (self.closing) onClosed({ how: self.closing, ...said(command) });
        },
      };
    });
    const respec = () => {
      spec = freshSpec();
      for (const task of execution.tasks) spec.committed(task);
    };
    real.set(workflowId, execution);
    watched.set(workflowId, { execution, effects: effects!, respec });
    world.executions.set(workflowId, execution);
    return execution;
  }

  const startChild: StartChild = (workflowId, input, searchAttributes, onClosed): Execution => {
    const child = input as { readonly index: number; readonly sample: number };
    if (world.store.rollout(queryOf(child.index), child.sample)?.end) world.endedInVain.add(workflowId);
    if (world.random.chance(plan.realChildren)) return start('rollout', workflowId, child, searchAttributes, onClosed);
    const execution = standIn(world, workflowId, child, onClosed);
    world.executions.set(workflowId, execution);
    return execution;
  };

  for (const unit of plan.before) {
    const input = { run: RUN, out: OUT, index: Math.floor(unit / plan.samples), sample: unit % plan.samples };
    startChild(childId(unit, plan.samples), input, null, () => {});
  }
  const main =
    plan.kind === 'rollout'
      ? start('rollout', childId(0, 1), { run: RUN, out: OUT, index: 0, sample: 0 } as object, null, () => {})
      : start('collection', RUN, collectionInput(world), null, () => {});

  return {
    main,
    real,
    reset(execution, count) {
      const later = execution.tasks.slice(count).flatMap((task) => task.steps.flatMap((step) => step.activation.jobs));
      const { effects, respec } = watched.get(execution.workflowId)!;
      effects.end();
      execution.reset(
        count,
        later.filter((job) => job.signalWorkflow ?? job.doUpdate),
      );
      respec();
      effects.resume(execution.tasks);
    },
    async dispose() {
      for (const execution of real.values()) await execution.dispose();
    },
  };
}

function collectionInput({ plan: { maxConcurrent, maxHistoryEvents } }: World): object {
  return { run: RUN, out: OUT, dataset: 'data.jsonl', maxConcurrent, maxHistoryEvents };
}

function said(command: Command | null): Pick<ChildClosing, 'result' | 'failure'> {
  if (command?.completeWorkflowExecution) return { result: valueOf(command.completeWorkflowExecution.result) };
  if (command?.failWorkflowExecution) return { failure: command.failWorkflowExecution.failure };
  return {};
}
