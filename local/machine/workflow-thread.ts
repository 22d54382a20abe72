// The thread in which the SDK plays workflows, without its record of every promise's stack. That record serves the
// query `__stack_trace` alone ("Call stack" in the UI), and takes a third or more of the thread's processor time: for each promise a
// function is compiled, and a stack is captured and mapped to its sources. The query then answers that stacks are not enabled. Errors
// have their stacks. Under TEMPORAL_DEBUG the SDK needs no thread, and answers the query.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import v8 from 'node:v8';
import workerThreads, { isMainThread, workerData } from 'node:worker_threads';

/** The SDK's own script; a version that names it otherwise keeps its stacks. */
const OF_THE_SDK = /[\\/]workflow-worker-thread\.js$/;

interface LeanData {
  readonly everturnWorkflowThread: string;
}

/** Makes the SDK's workflow threads of this process begin here. Sources, which no thread runs, keep theirs. */
export function makeWorkflowThreadsLean(): void {
  const { Worker } = workerThreads;
  const lean = fileURLToPath(new URL('./workflow-thread.js', import.meta.url));
  if (Worker.name === 'LeanWorker' || !existsSync(lean)) return;
  class LeanWorker extends Worker {
    constructor(...[script, options]: ConstructorParameters<typeof Worker>) {
      const ofTheSdk = typeof script === 'string' && OF_THE_SDK.test(script);
      const data = ofTheSdk ? ({ everturnWorkflowThread: script } satisfies LeanData) : undefined;
      super(data ? lean : script, data ? { ...options, workerData: data } : options);
    }
  }
  // The SDK takes the class from here when it makes a thread.
  Object.assign(workerThreads, { Worker: LeanWorker });
}

function begin({ everturnWorkflowThread: script }: LeanData): void {
  const { warn } = console;
  const createHook = (): never => {
    // The SDK warns that there are no stacks: they are left out on purpose.
    console.warn = () => {
      console.warn = warn;
    };
    throw new Error('Everturn records no stacks of promises.');
  };
  // Another object in its place: Node's AsyncLocalStorage calls the one that is there.
  Object.assign(v8, { promiseHooks: { ...v8.promiseHooks, createHook } });
  createRequire(import.meta.url)(script);
}

if (!isMainThread && typeof (workerData as Partial<LeanData> | null)?.everturnWorkflowThread === 'string')
  begin(workerData as LeanData);
