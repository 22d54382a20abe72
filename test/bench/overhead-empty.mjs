// The worker of dist/worker.js with activities that do nothing: the same workflows on the same queues, for what
// Temporal alone costs. With BARE_MODEL and BARE_OUT they do the least that the contract allows: the model server is
// asked and its reply parsed; ids and logprobs, then a verdict, become durable files that appear whole, and two logs
// are replaced. Nobody judges, checks, hashes, decodes or reads. Arguments: address, namespace, slots, queries, turns.
// Ends with its parent.

import { closeSync, fsync, linkSync, openSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Pool } from 'undici';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { CODE_QUEUE, GENERATE_QUEUE, TASK_QUEUE } from '../../dist/domain/names/queues.js';

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
  await keep(`${run}-${query}-${turn}`, JSON.stringify({ ids, logprobs }));
  return { ...facts, turn };
}
const sync = promisify(fsync);
/** Calls that hold up the loop take a third of the processor time of those that do not. */
async function keep(name, text) {
  const path = join(BARE_OUT, `${name}.json`);
  const file = openSync(`${path}.tmp`, 'wx');
  writeFileSync(file, text);
  await sync(file);
  closeSync(file);
  linkSync(`${path}.tmp`, path);
  unlinkSync(`${path}.tmp`);
  const folder = openSync(BARE_OUT, 'r');
  await sync(folder);
  closeSync(folder);
}
async function bareVerdict({ rollout: { run, query }, turn }) {
  await keep(`${run}-${query}-${turn}-verdict`, '{"verdict":"wrong","reason":"different"}');
  return { verdict: 'wrong', reason: 'different' };
}
const block = 'First take 6 of them, then 7 more; that makes 13, and 13 + 28 = 41.\n'.repeat(40);
async function bareLog({ rollout: { run, query }, turn }) {
  for (const kind of ['txt', 'jsonl']) {
    const path = join(BARE_OUT, `${run}-${query}.${kind}`);
    writeFileSync(`${path}.tmp`, block.repeat(turn));
    renameSync(`${path}.tmp`, path);
  }
}
const generate = model ? bare : nothing;
const evaluate = model ? bareVerdict : async () => ({ verdict: 'wrong', reason: 'different-answer' });
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
  log: model ? bareLog : async () => {},
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
    workflowBundle: { codePath: fileURLToPath(new URL('../../dist/workflow-bundle.js', import.meta.url)) },
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
