// The promise, by the built command line on the local service: a program that asks the model itself plays rollouts, and is
// killed with everything around it. No call that has a record is asked for again, and the samples are those of a calm run.

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type HostileModel, startHostileModel } from '../chaos/model.ts';
import { type Everturn, openEverturn } from '../support/everturn.ts';
import { pidsOf } from '../support/processes.ts';
import { scriptedVllm } from '../support/scripted-vllm.ts';
import { TINY_FOLDER } from '../support/tiny.ts';
import { callText } from '../support/tool-chat.ts';

const AGENT = `node ${join(import.meta.dirname, '../fixtures/agents/vote.mjs')}`;
const FULL = process.env['EVERTURN_CHAOS'] === 'full';
const ROWS = FULL ? 100 : 5;
const SAMPLES = FULL ? 3 : 2;
const KILLS = FULL ? 100 : 8;
const CALLS = 8;
const LATENCY_MS = FULL ? 150 : 500;
const SEED = Number(process.env['KILL_SEED'] ?? Math.floor(Math.random() * 1e9));
let random = SEED;
const rand = () =>
  Number.parseInt(createHash('sha256').update(`${random++}`).digest('hex').slice(0, 8), 16) / 0x1_0000_0000;

let everturn: Everturn;
let model: HostileModel;
beforeAll(async () => {
  everturn = openEverturn();
  model = await startHostileModel(everturn.folder, {
    kind: 'sglang',
    latencyMs: LATENCY_MS,
    seed: 1,
    runs: join(everturn.folder, 'runs'),
  });
  const rows = Array.from({ length: ROWS }, (_, i) => ({
    id: `q${i}`,
    question: `What is ${i}?`,
    answer: `${i % 10}`,
  }));
  writeFileSync(join(everturn.folder, 'rows.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'));
});
afterAll(async () => {
  await everturn.close();
  await model.stop();
});

const run = (name: string, ...more: string[]) => [
  ...[
    'run',
    'rows.jsonl',
    '--name',
    name,
    '--agent',
    AGENT,
    '--model',
    model.spec,
    '--tokenizer',
    TINY_FOLDER,
    '--samples',
    String(SAMPLES),
  ],
  ...['--seed', '7', '--temperature', '0', '--recheck-every', '0', '--max-concurrent', '6', ...more],
];

const agents = () => pidsOf('agents/vote.mjs');
function rolloutOf(pid: number): string {
  try {
    return /EVERTURN_KEY=([^\0]*)/.exec(readFileSync(`/proc/${pid}/environ`, 'utf8'))?.[1] ?? '';
  } catch {
    return ''; // it has just ended
  }
}

interface Row {
  readonly query: string;
  readonly sample: number;
  readonly prompt_ids: readonly number[];
  readonly response_ids: readonly number[];
  readonly response_mask: readonly number[];
  readonly turn_ends: readonly number[];
  readonly turn_returns: readonly number[];
}

/**
 * Each call of a run with all tokens up to its end, and the number of tokens that are trained. Of equal calls side by side
 * the one that comes first is gone on from: it may be another one, and a leaf the fewer.
 */
async function samplesOf(name: string): Promise<{ readonly calls: readonly string[]; readonly trained: number }> {
  const exported = await everturn.run('export', name, '--format', 'rows');
  expect(exported.code, exported.stderr).toBe(0);
  const rows = exported.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
  const calls = rows.flatMap(({ query, sample, prompt_ids, response_ids, turn_ends, turn_returns }) =>
    turn_ends.map((end) =>
      JSON.stringify([query, sample, [...prompt_ids, ...response_ids.slice(0, end)], turn_returns[0]]),
    ),
  );
  const trained = rows.flatMap(({ response_mask }) => response_mask.filter((one) => one === 1));
  return { calls: calls.toSorted(), trained: trained.length };
}

describe('a program that asks the model itself', () => {
  test(
    `is killed with its worker, its server and its model ${KILLS} times: no recorded call is asked for again, and the samples are the same`,
    { timeout: FULL ? 3_600_000 : 600_000 },
    async () => {
      console.log(`KILL_SEED=${SEED}`);
      const calm = await everturn.run(...run('calm'));
      expect(calm.code, calm.stderr).toBe(0);
      expect(model.asks().filter(({ event }) => event === 'ask')).toHaveLength(ROWS * SAMPLES * CALLS);

      const storm = everturn.start(...run('storm'));
      let isOver = false;
      void storm.ended.then(() => (isOver = true));
      const kills = { agent: 0, worker: 0, server: 0, model: 0 };
      // A rollout whose agent a signal ends five times has failed.
      const killed = new Map<string, number>();
      const count = () => Object.values(kills).reduce((sum, one) => sum + one, 0);
      while (!isOver && count() < KILLS) {
        await sleep(200 + 800 * rand());
        const draw = rand();
        const there = agents().filter((pid) => (killed.get(rolloutOf(pid)) ?? 0) < 3);
        const victim = there[Math.floor(rand() * there.length)];
        const { worker, server } = everturn.service() ?? {};
        try {
          if (draw < 0.5 && victim !== undefined) {
            const rollout = rolloutOf(victim);
            process.kill(victim, 'SIGKILL');
            killed.set(rollout, (killed.get(rollout) ?? 0) + 1);
            kills.agent++;
          } else if (draw < 0.8 && worker && agents().length > 0) {
            process.kill(worker.pid, 'SIGKILL');
            kills.worker++;
          } else if (draw < 0.9 && server && agents().length > 0) {
            process.kill(server.pid, 'SIGKILL');
            kills.server++;
          } else if (draw >= 0.9 && agents().length > 0) {
            await model.stop('SIGKILL');
            await sleep(500 * rand());
            model.start();
            await model.ready();
            kills.model++;
          }
        } catch {
          // It is being started again.
        }
      }
      const ended = await storm.ended;
      const why = ended.code === 0 ? '' : (await everturn.run('why', 'storm')).stdout;
      expect(ended.code, why + ended.stderr).toBe(0);
      const asked = model.asks().filter(({ event, key }) => event === 'ask' && key.startsWith('storm/'));
      console.log(JSON.stringify({ kills, asked: asked.length, calls: ROWS * SAMPLES * CALLS }));
      expect(count()).toBeGreaterThan(FULL ? KILLS / 2 : 1);
      expect(asked.filter(({ known }) => known)).toEqual([]);
      const checked = await everturn.run('check', 'storm', '--json');
      expect(checked.code, checked.stdout + checked.stderr).toBe(0);
      expect(await samplesOf('storm')).toEqual(await samplesOf('calm'));
      expect(agents()).toEqual([]);
    },
  );

  test('ends its rollout by name when it fails, takes too long, asks too often or says nothing readable', async () => {
    const programs: Readonly<Record<string, readonly [program: string, ...flags: string[]]>> = {
      'agent-exited': [
        'await ask(); console.error("at a line of a trace\\n".repeat(99) + "Error: out of plums"); process.exit(3);',
      ],
      'agent-timeout': ['await ask(); setInterval(() => {}, 1000);', '--agent-timeout', '2'],
      'agent-no-call': ['console.log("{}");'],
      'agent-diverged': [
        `const first = process.env.EVERTURN_ATTEMPT === '1'; await ask(first ? 'Hi.' : 'Ho.'); if (first) process.kill(process.pid, 9);`,
        ...['--on-divergence', 'fail'],
      ],
      'agent-broken': ['await ask(); console.log(JSON.stringify({ rewards: { form: 1 } }));'],
    };
    const ask = `const ask = (content = 'Hello.') => fetch(process.env.OPENAI_BASE_URL + '/chat/completions', { method: 'POST',
      headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
      body: JSON.stringify({ messages: [{ role: 'user', content }] }) });\n`;
    for (const [reason, [program, ...flags]] of Object.entries(programs)) {
      writeFileSync(join(everturn.folder, 'agent.mjs'), ask + program);
      const args = [
        '--agent',
        'node agent.mjs',
        '--model',
        model.spec,
        '--tokenizer',
        TINY_FOLDER,
        '--limit',
        '1',
        '--recheck-every',
        '0',
      ];
      const ended = await everturn.run('run', 'rows.jsonl', '--name', reason, ...args, ...flags);
      expect(ended.code, ended.stderr).toBe(3);
      const why = await everturn.call('why', reason, 'q0');
      expect(why.stdout).toContain(reason);
      if (reason === 'agent-exited') expect(why.stdout).toContain('out of plums');
      const checked = await everturn.run('check', reason);
      expect(checked.code, checked.stdout + checked.stderr).toBe(0);
    }
    writeFileSync(join(everturn.folder, 'agent.mjs'), `${ask}for (;;) if (!(await ask()).ok) process.exit(1);`);
    const args = [
      '--agent',
      'node agent.mjs',
      '--model',
      model.spec,
      '--tokenizer',
      TINY_FOLDER,
      '--limit',
      '1',
      '--recheck-every',
      '0',
    ];
    const limited = await everturn.run('run', 'rows.jsonl', '--name', 'limited', ...args, '--max-calls', '3');
    expect(limited.code, limited.stderr).toBe(0);
    const { stdout } = await everturn.call('check', 'limited', '--json');
    expect(stdout).toContain('"turns":3,');
    expect(stdout).toContain('"breaches":0,');
  });

  test('is judged where it leaves calls behind: they are turns, and no samples', async () => {
    writeFileSync(
      join(everturn.folder, 'hedge.mjs'),
      `const ask = () => fetch(process.env.OPENAI_BASE_URL + '/chat/completions', { method: 'POST',
        headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
        body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello.' }] }) }).then((reply) => reply.json());
      await ask();
      for (const _ of [1, 2]) ask().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      console.log(JSON.stringify({ answer: '0' }));
      process.exit(0);`,
    );
    // Both calls arrive before the program ends, and no reply does.
    await model.become({ latencyMs: 3_000 });
    const args = ['run', 'rows.jsonl', '--name', 'hedge', '--agent', 'node hedge.mjs', '--model', model.spec];
    const ended = await everturn.run(...args, '--tokenizer', TINY_FOLDER, '--limit', '2', '--temperature', '0');
    await model.become({ latencyMs: LATENCY_MS });
    expect(ended.code, ended.stderr).toBe(0);
    const checked = await everturn.run('check', 'hedge', '--json');
    expect(checked.code, checked.stdout + checked.stderr).toBe(0);
    expect(checked.stdout).toContain('"turns":6,');
    const { stdout } = await everturn.run('export', 'hedge', '--format', 'rows');
    expect(stdout.trim().split('\n')).toHaveLength(2);
  });

  test('calls tools of its own in the form of the model, and their results extend the sampled ids; their tokens are counted before', async () => {
    const scripted = await scriptedVllm([
      `Let me add.\n${callText('add', { a: 1, b: 2 })}${callText('add', { a: 3, b: 4 })}`,
      'All in all \\boxed{10}.',
    ]);
    try {
      writeFileSync(
        join(everturn.folder, 'tools.mjs'),
        `const tools = [{ type: 'function', function: { name: 'add', description: 'Adds.',
          parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } } } }];
        const messages = [{ role: 'user', content: 'Add 1, 2, 3 and 4.' }];
        const [{ function: { parameters, ...named } }] = tools;
        const counting = await fetch(process.env.ANTHROPIC_BASE_URL + '/v1/messages/count_tokens', { method: 'POST',
          headers: { 'x-api-key': process.env.ANTHROPIC_API_KEY },
          body: JSON.stringify({ messages, tools: [{ ...named, input_schema: parameters }] }) });
        const { input_tokens } = await counting.json();
        for (;;) {
          const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', { method: 'POST',
            headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
            body: JSON.stringify({ messages, tools }) });
          const { choices: [{ message, finish_reason }], usage } = await response.json();
          if (messages.length === 1 && usage.prompt_tokens !== input_tokens) throw new Error('miscounted');
          messages.push(message);
          if (finish_reason !== 'tool_calls') break;
          for (const { id, function: { arguments: given } } of message.tool_calls) {
            const { a, b } = JSON.parse(given);
            messages.push({ role: 'tool', tool_call_id: id, content: String(a + b) });
          }
        }
        console.log(JSON.stringify({ answer: messages.at(-1).content }));`,
      );
      writeFileSync(join(everturn.folder, 'ten.jsonl'), '{"id": "ten", "question": "Add.", "answer": "10"}');
      const args = ['run', 'ten.jsonl', '--name', 'tools', '--agent', 'node tools.mjs'];
      const ended = await everturn.run(...args, ...scripted.flags);
      expect(ended.code, ended.stderr).toBe(0);
      expect(ended.stderr + ended.stdout).toContain('100.0 %');
      const checked = await everturn.run('check', 'tools');
      expect(checked.code, checked.stdout + checked.stderr).toBe(0);
      const { stdout } = await everturn.run('export', 'tools', '--format', 'rows');
      const [row, ...more] = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Row & { readonly turn_returns: readonly number[] });
      expect(more).toEqual([]);
      expect(row!.turn_returns).toEqual([1, 1]);
    } finally {
      await scripted.server.close();
    }
  });
});
