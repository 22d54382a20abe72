// The worker of dist/worker.js with activities that do nothing: the same workflows on the same queues, for what
// Temporal alone costs. With BARE_MODEL and BARE_OUT its generation does the least that a collector can: it asks the
// model server, parses the reply, and keeps ids and logprobs in one durable file. No judge, no checks, no logs, no
// hashes. Arguments: address, namespace, slots, queries, turns. Ends with its parent.

import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
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

const nothing = async ({ turn }) => ({ ...facts, turn });
const { BARE_MODEL, BARE_OUT } = process.env;
const model = BARE_MODEL && new Pool(BARE_MODEL, { connections: null, pipelining: 1 });
const prompt = Array.from({ length: 100 }, (_, i) => i);
async function bare({ rollout: { run, query }, turn }) {
  const { body } = await model.request({
    ...{ method: 'POST', path: '/generate', headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ rid: `${run}/${query}/${turn}`, input_ids: prompt, sampling_params: {} }),
  });
  const { output_ids: ids, meta_info: meta } = await body.json();
  const logprobs = meta.output_token_logprobs.map(([logprob]) => logprob);
  const file = await open(join(BARE_OUT, `${run}-${query}-${turn}.json`), 'wx');
  await file.writeFile(JSON.stringify({ ids, logprobs }));
  await file.sync();
  await file.close();
  return { ...facts, turn };
}
const generate = model ? bare : nothing;
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
