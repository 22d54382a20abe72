// The worker of dist/worker.js with activities that do nothing: the same workflows on the same queues, for what
// Temporal alone costs. Arguments: address, namespace, slots, queries, turns. Ends with its parent.

import { fileURLToPath } from 'node:url';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { CODE_QUEUE, GENERATE_QUEUE, TASK_QUEUE } from '../dist/domain/queues.js';

const [address, namespace, slots, queries, turns] = process.argv.slice(2);
const limits = { numTurns: Number(turns), stop: 'always' };
const reward = { rewardScaling: 1, rewardBias: 0, turnDiscount: 1 };
const facts = {
  noRoom: false,
  outputTokens: 1024,
  contextTokens: 1100,
  finish: 'stop',
  versionStart: 0,
  versionEnd: 0,
};

const generate = async ({ turn }) => ({ ...facts, turn });
const evaluate = async () => ({ verdict: 'wrong', reason: 'different-answer' });
const light = {
  accept: async () => ({ queries: Number(queries), samples: 1, numTurns: limits.numTurns }),
  page: async ({ from, count }) =>
    Array.from({ length: Math.min(count, Number(queries) - from) }, (_, i) => ({
      ...{
        unit: from + i,
        index: from + i,
        sample: 0,
        query: `q${from + i}`,
        title: 'What is 6 times 7?',
        ended: null,
      },
    })),
  open: async ({ run, out, index }) => ({
    rollout: { out, run, query: `q${index}`, sample: 0, attempt: 1 },
    ...{ limits, reward, title: 'What is 6 times 7?', task: 'math' },
  }),
  evaluate,
  log: async () => {},
  finish: async () => {},
  conclude: async () => {},
};

Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
const connection = await NativeConnection.connect({ address });
const common = { connection, namespace };
const workers = await Promise.all([
  Worker.create({
    ...common,
    taskQueue: TASK_QUEUE,
    workflowBundle: { codePath: fileURLToPath(new URL('../dist/workflow-bundle.js', import.meta.url)) },
    activities: light,
    stickyQueueScheduleToStartTimeout: '3 seconds',
    maxCachedWorkflows: 1000,
  }),
  Worker.create({
    ...common,
    taskQueue: GENERATE_QUEUE,
    activities: { generate },
    maxConcurrentActivityTaskExecutions: Number(slots),
    maxHeartbeatThrottleInterval: '3 seconds',
  }),
  Worker.create({ ...common, taskQueue: CODE_QUEUE, activities: { evaluate } }),
]);
process.on('disconnect', () => process.exit(0));
process.send({ everturn: 'ready' });
await Promise.all(workers.map((worker) => worker.run()));
