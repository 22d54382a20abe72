// Loaded into a worker before its own code (`node --import`): writes down, from outside the product, in which phase
// each of its steps is, and kills the worker at a phase that the nemesis aims at. EVERTURN_MARKS is the folder of the
// marks, one file per process; a file `aim-<phase>` in it is taken by the first worker that gets there.
// Lines: `<epoch ms> <n of the step> <phase> <what>`; phase `-` ends a step. A file's step is ended by that of the
// activity which wrote it: phases.ts.

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';

const folder = process.env.EVERTURN_MARKS;
const isWorker = process.argv[2] === 'worker' || /dist.worker\.js$/.test(process.argv[1] ?? '');
const DISK_THREAD = 'records/steps/thread.js';
if (!fs.existsSync(new URL(`../../dist/${DISK_THREAD}`, import.meta.url))) throw new Error(`no ${DISK_THREAD} to mark`);
const isDisk = (process.argv[1] ?? '').replaceAll('\\', '/').endsWith(DISK_THREAD);
// Judges and tokenizers inherit how their parent was started, too.
const concerned = folder && (isMainThread ? isWorker : isDisk);
const file = concerned ? fs.openSync(join(folder, `${process.pid}.marks`), 'a') : undefined;
if (concerned && isMainThread) await markSteps();
if (concerned && !isMainThread) markFiles();

function write(n, phase, what) {
  fs.writeSync(file, `${Date.now()} ${n} ${phase} ${what}\n`);
  if (phase !== '-') dieIfAimedAt(phase);
}

function dieIfAimedAt(phase) {
  const aim = join(folder, `aim-${phase}`);
  if (!fs.existsSync(aim)) return;
  try {
    fs.renameSync(aim, join(folder, `hit-${process.pid}`));
  } catch {
    return; // another worker was there first
  }
  process.kill(process.pid, 'SIGKILL');
}

async function markSteps() {
  const { Worker } = await import('@temporalio/worker');
  let count = 0;

  async function during(phase, what, work) {
    const n = count++;
    write(n, phase, what);
    try {
      return await work();
    } finally {
      write(n, '-', what);
    }
  }

  const PHASES = { generate: 'generating', evaluate: 'evaluating' };
  const COLLECTION = new Set(['accept', 'page', 'settle', 'conclude']);
  const interceptor = ({ info }) => ({
    inbound: {
      execute: (input, next) => {
        const phase = PHASES[info.activityType] ?? (COLLECTION.has(info.activityType) ? 'collecting' : 'recording');
        const turn = input.args[0]?.turn ?? '';
        const what = `${info.activityType} ${info.workflowExecution.workflowId} ${turn} ${info.attempt}`;
        return during(phase, what, () => next(input));
      },
    },
  });
  const { create } = Worker;
  Worker.create = (options) =>
    create.call(Worker, {
      ...options,
      interceptors: { ...options.interceptors, activity: [...(options.interceptors?.activity ?? []), interceptor] },
    });

  // A run's own workflow task, and those of its blocks; its rollouts' are not marked.
  const RUNS = new Set(['collection', 'block']);
  const types = new Map();
  const { handleActivation } = Worker.prototype;
  if (typeof handleActivation !== 'function') throw new Error('the SDK has changed: no handleActivation to mark');
  Worker.prototype.handleActivation = function (workflow, input) {
    const { runId, jobs } = input.activation;
    const type = jobs?.find((job) => job.initializeWorkflow)?.initializeWorkflow?.workflowType;
    if (type) types.set(runId, type);
    const go = () => handleActivation.call(this, workflow, input);
    const isWork = jobs?.some((job) => !job.removeFromCache);
    return isWork && RUNS.has(types.get(runId)) ? during('collecting', `task ${runId}`, go) : go();
  };
}

/**
 * A turn appears by its record's link; from then on until its step ends it is there, and Temporal does not know. Aimed
 * at is that: verdicts and ends are made again at no cost.
 */
function markFiles() {
  const places = (to) => {
    const [, query, sample, name] = /([^/\\]+)[/\\](\d+)\.\d+[/\\]([^/\\]+)$/.exec(String(to)) ?? [];
    return query && `${query}/${sample} ${name}`;
  };
  const link = fs.linkSync;
  fs.linkSync = (from, to) => {
    const what = places(to);
    if (!what?.includes(' turn-')) return link(from, to);
    const n = `file:${what.replace(' ', '/')}`;
    write(n, 'before-write', what);
    link(from, to);
    write(n, 'unacknowledged', what);
  };
  syncBuiltinESMExports();
}
