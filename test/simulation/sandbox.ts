// The workflows as a worker runs them: the SDK's own sandbox and workflow runtime over the real bundle. Only
// Temporal's Core is not there; whoever holds an instance plays its part, activation by activation.

import { Script } from 'node:vm';
import { ReusableVMWorkflowCreator } from '@temporalio/worker/lib/workflow/reusable-vm.js';
import type { Command, Job } from './wire.ts';
import { timestamp } from './wire.ts';

export interface Sandbox {
  /** A fresh instance that knows nothing of its history yet. */
  open(workflow: WorkflowFacts): Promise<Instance>;
}

export interface WorkflowFacts {
  readonly workflowId: string;
  readonly runId: string;
  readonly workflowType: string;
  readonly startedAtMs: number;
}

export interface Activation {
  readonly timestampMs: number;
  readonly isReplaying: boolean;
  readonly historyLength: number;
  readonly continueAsNewSuggested: boolean;
  /** The SDK flags that the first activation used; none then. */
  readonly flags: readonly number[];
  readonly jobs: readonly Job[];
}

export interface Instance {
  /** Throws when the workflow task failed: a bug in workflow code, or non-determinism. */
  activate(
    activation: Activation,
  ): Promise<{ readonly commands: readonly Command[]; readonly flags: readonly number[] }>;
  dispose(): Promise<void>;
}

const LOCAL_ACTIVITIES = new Set([
  'open',
  'generate',
  'evaluate',
  'log',
  'finish',
  'accept',
  'page',
  'settle',
  'conclude',
]);
const SEED_BYTES = [1, 2, 3, 4, 5, 6, 7, 8];

export function openSandbox(code: string, filename: string): Sandbox {
  const bundle = { code, filename, sourceMap: {} as never };
  // No limit of time: it would cost a thread for every call.
  const creator = new ReusableVMWorkflowCreator(
    new Script(code, { filename }),
    bundle,
    undefined as never,
    LOCAL_ACTIVITIES,
  );
  return {
    async open({ workflowId, runId, workflowType, startedAtMs }) {
      const started = new Date(startedAtMs);
      const workflow = await creator.createWorkflow({
        info: {
          workflowId,
          runId,
          workflowType,
          firstExecutionRunId: runId,
          namespace: 'default',
          taskQueue: 'everturn',
          attempt: 1,
          taskTimeoutMs: 10_000,
          startTime: started,
          runStartTime: started,
          searchAttributes: {},
          typedSearchAttributes: {} as never,
          memo: {},
          historyLength: 0,
          historySize: 0,
          continueAsNewSuggested: false,
          unsafe: { isReplaying: false, isReplayingHistoryEvents: false } as never,
        } as never,
        randomnessSeed: SEED_BYTES,
        now: startedAtMs,
        showStackTraceSources: false,
        failureExceptionTypeNames: [],
      } as never);
      return {
        async activate({ timestampMs, isReplaying, historyLength, continueAsNewSuggested, flags, jobs }) {
          const completion = await workflow.activate({
            runId,
            timestamp: timestamp(timestampMs),
            isReplaying,
            historyLength,
            continueAsNewSuggested,
            availableInternalFlags: [...flags],
            jobs: jobs.map(withVariant),
          } as never);
          if (completion.failed) throw new Error(describe(completion.failed.failure));
          const { commands, usedInternalFlags } = completion.successful!;
          return { commands: commands as readonly Command[], flags: usedInternalFlags ?? [] };
        },
        dispose: () => workflow.dispose(),
      };
    },
  };
}

/** Query jobs reach the runtime as they are, without the class that would know its own variant. */
function withVariant(job: Job): object {
  return job.queryWorkflow ? { ...job, variant: 'queryWorkflow' } : job;
}

interface TaskFailure {
  readonly message?: string | null;
  readonly stackTrace?: string | null;
  readonly cause?: TaskFailure | null;
}

function describe(failure: TaskFailure | null | undefined): string {
  const causes: string[] = [];
  for (let f = failure; f; f = f.cause) causes.push(`${f.message ?? ''}\n${f.stackTrace ?? ''}`);
  return `workflow task failed: ${causes.join('\ncaused by: ')}`;
}
