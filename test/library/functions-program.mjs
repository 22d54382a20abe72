// A program that plays a run with functions of its own, writes down each call, and is killed by its test.

import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const [installation, folder, samples, home, address] = process.argv.slice(2);
if (address) process.env.TEMPORAL_ADDRESS = address;
const { start } = await import(join(installation, 'dist/library/index.js'));
const say = (what, of) =>
  appendFileSync(join(folder, 'calls.jsonl'), `${JSON.stringify({ pid: process.pid, what, of })}\n`);

async function counting(messages, { requestId, tools }) {
  say('model', requestId);
  do await sleep(200);
  while (existsSync(join(folder, 'hold')));
  if (messages.at(-1).role === 'tool') return `The answer is ${messages.at(-1).content}.`;
  const [, a, b] = /(\d+) \+ (\d+)/.exec(messages[0].content);
  return { text: '', toolCalls: [{ id: requestId, name: tools[0].name, arguments: JSON.stringify({ a, b }) }] };
}

async function isSum(row, answer) {
  say('judge', row.id);
  return answer.includes(row.answer);
}

const add = {
  name: 'add',
  description: 'Adds two whole numbers.',
  effect: 'pure',
  parameters: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['a', 'b'] },
  run({ a, b }, { key }) {
    say('tool', key);
    return Number(a) + Number(b);
  },
};

try {
  const run = await start({
    ...{
      dataset: join(folder, 'sums.jsonl'),
      out: join(folder, 'runs'),
      name: 'sums',
      samples: Number(samples),
      numTurns: 1,
      home,
    },
    ...{ model: counting, environment: isSum, tools: [add], maxConcurrent: 2 },
  });
  const { counts } = await run.result();
  console.log(JSON.stringify({ found: run.found, outcomes: counts.outcomes }));
} catch (error) {
  console.log(JSON.stringify({ reason: error.reason, message: error.message }));
}
