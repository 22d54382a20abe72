// The promise, by the built command line on the local service: a program that asks the model itself plays rollouts, and is
// killed with everything around it. No call that has a record is asked for again, and the samples are those of a calm run.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RolloutProgress } from '../../domain/run/messages.ts';
import { recordHistory } from '../histories/history-file.ts';
import { jsonLines } from '../support/json-lines.ts';
import { nodesWith, procFile } from '../support/processes.ts';
import { scriptedVllm } from '../support/scripted-vllm.ts';
import { callText } from '../support/tool-chat.ts';
import { until } from '../support/until.ts';
import { type AgentRig, openAgentRig } from './agent-rig.ts';

const AGENT = `node ${join(import.meta.dirname, '../fixtures/agents/vote.mjs')}`;
const FULL = process.env['EVERTURN_CHAOS'] === 'full';
const ROWS = FULL ? 100 : 3;
const SAMPLES = FULL ? 3 : 2;
const VICTIMS = ['agent', 'worker', 'server', 'model'] as const;
const KILLS = FULL ? 100 : VICTIMS.length;
const CALLS = 8;
const LATENCY_MS = FULL ? 150 : 500;
const SEED = Number(process.env['KILL_SEED'] ?? Math.floor(Math.random() * 1e9));
let random = SEED;
const rand = () =>
  Number.parseInt(createHash('sha256').update(`${random++}`).digest('hex').slice(0, 8), 16) / 0x1_0000_0000;

let rig: AgentRig;
beforeAll(async () => {
  rig = await openAgentRig(ROWS, LATENCY_MS);
});
afterAll(() => rig.close());

const agents = () => nodesWith('agents/vote.mjs');
const rolloutOf = (pid: number): string => /EVERTURN_KEY=([^\0]*)/.exec(procFile(pid, 'environ'))?.[1] ?? '';

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
  const rows = jsonLines<Row>((await rig.everturn.mustRun('export', name, '--format', 'rows')).stdout);
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
      const { everturn, model, run } = rig;
      const flags = ['--samples', String(SAMPLES), '--seed', '7', '--max-concurrent', '6'];
      await everturn.mustRun(...run('calm', AGENT, ...flags));
      expect(rig.asks()).toHaveLength(ROWS * SAMPLES * CALLS);

      const storm = everturn.start(...run('storm', AGENT, ...flags));
      let isOver = false;
      void storm.ended.then(() => (isOver = true));
      const kills = { agent: 0, worker: 0, server: 0, model: 0 };
      // A rollout whose agent a signal ends five times has failed.
      const killed = new Map<string, number>();
      const count = () => Object.values(kills).reduce((sum, one) => sum + one, 0);
      while (!isOver && count() < KILLS) {
        await sleep(200 + 800 * rand());
        const draw = rand();
        // With a commit each of them once.
        const kind = VICTIMS[FULL ? [0.5, 0.8, 0.9, 1].findIndex((end) => draw < end) : count()]!;
        const there = agents().filter((pid) => (killed.get(rolloutOf(pid)) ?? 0) < 3);
        const victim = there[Math.floor(rand() * there.length)];
        const { worker, server } = everturn.service() ?? {};
        try {
          if (kind === 'agent' && victim !== undefined) {
            const rollout = rolloutOf(victim);
            process.kill(victim, 'SIGKILL');
            killed.set(rollout, (killed.get(rollout) ?? 0) + 1);
            kills.agent++;
          } else if (kind === 'worker' && worker && agents().length > 0) {
            process.kill(worker.pid, 'SIGKILL');
            kills.worker++;
          } else if (kind === 'server' && server && agents().length > 0) {
            process.kill(server.pid, 'SIGKILL');
            kills.server++;
          } else if (kind === 'model' && agents().length > 0) {
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
      const asked = rig.asks().filter(({ key }) => key.startsWith('storm/'));
      console.log(JSON.stringify({ kills, asked: asked.length, calls: ROWS * SAMPLES * CALLS }));
      expect(count()).toBeGreaterThan(FULL ? KILLS / 2 : 1);
      expect(asked.filter(({ known }) => known)).toEqual([]);
      await everturn.mustCall('check', 'storm');
      expect(await samplesOf('storm')).toEqual(await samplesOf('calm'));
      expect(agents()).toEqual([]);
    },
  );

  const ASK = `const ask = (content = 'Hello.') => fetch(process.env.OPENAI_BASE_URL + '/chat/completions', { method: 'POST',
    headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
    body: JSON.stringify({ messages: [{ role: 'user', content }] }) });\n`;
  /** A program that begins with `ask`. */
  function agentOf(name: string, program: string): string {
    rig.everturn.write(`${name}.mjs`, ASK + program);
    return `node ${name}.mjs`;
  }

  test.concurrent.each([
    [
      'agent-exited',
      'await ask(); console.error("at a line of a trace\\n".repeat(99) + "Error: out of plums"); process.exit(3);',
      [],
      'out of plums',
    ],
    ['agent-timeout', 'await ask(); setInterval(() => {}, 1000);', ['--agent-timeout', '2'], ''],
    ['agent-no-call', 'console.log("{}");', [], ''],
    [
      'agent-diverged',
      `const first = process.env.EVERTURN_ATTEMPT === '1'; await ask(first ? 'Hi.' : 'Ho.'); if (first) process.kill(process.pid, 9);`,
      ['--on-divergence', 'fail'],
      '',
    ],
    ['agent-broken', 'await ask(); console.log(JSON.stringify({ rewards: { form: 1 } }));', [], ''],
  ])('ends its rollout by name: %s', { timeout: 240_000 }, async (reason, program, flags, said) => {
    expect(await rig.failing(reason, agentOf(reason, program), ...flags)).toContain(said);
  });

  test('that asks too often is refused each further call', { timeout: 120_000 }, async () => {
    const agent = agentOf('limited', 'for (;;) if (!(await ask()).ok) process.exit(1);');
    await rig.everturn.mustCall(...rig.run('limited', agent, '--limit', '1', '--max-calls', '3'));
    const stdout = await rig.everturn.mustCall('check', 'limited', '--json');
    expect(stdout).toContain('"turns":3,');
    expect(stdout).toContain('"breaches":0,');
  });

  test('makes no call while its rollout is paused, also behind a kill of its worker, and goes on when it is resumed', async () => {
    const { everturn, model } = rig;
    const agent = agentOf('paused', 'for (let i = 0; i < 12; i++) await (await ask(`Say ${i}.`)).json();');
    await model.become({ latencyMs: 300 });
    await everturn.mustCall(...rig.run('paused', agent, '--limit', '1', '--detach'));
    const asked = () => rig.asks().filter(({ key }) => key.startsWith('paused/')).length;
    await until('it asks', () => asked() > 1 || undefined);
    const connection = await Connection.connect({ address: everturn.service()!.address });
    const rollout = new Client({ connection }).workflow.getHandle('paused/q0/0');
    await rollout.executeUpdate('pause');
    await until('the call in flight is recorded', async () => {
      const { stdout } = await everturn.mustRun('check', 'paused', '--json');
      return stdout.includes(`"turns":${asked()},`) || undefined;
    });
    const before = asked();
    const { pid } = everturn.service()!.worker!;
    process.kill(pid, 'SIGKILL');
    await until('another worker is there', () => {
      const worker = everturn.service()?.worker;
      return (worker && worker.pid !== pid) || undefined;
    });
    await sleep(5_000);
    expect(asked()).toBe(before);
    await rollout.executeUpdate('resume');
    await everturn.mustCall('status', 'paused', '--follow');
    const progress = await rollout.query<RolloutProgress>('progress');
    await recordHistory(new Client({ connection }), 'rollout-agent', { workflowId: 'paused/q0/0' });
    await connection.close();
    await model.become({ latencyMs: LATENCY_MS });
    expect(progress).toMatchObject({ paused: false, calls: { branches: expect.any(Number) } });
    expect(progress.turns.map(({ turn }) => turn)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
    expect(asked()).toBe(12);
    await everturn.mustCall('check', 'paused');
  });

  test('is judged where it leaves calls behind: they are turns, and no samples', async () => {
    const agent = agentOf(
      'hedge',
      `await (await ask()).json();
      for (const _ of [1, 2]) ask().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      console.log(JSON.stringify({ answer: '0' }));
      process.exit(0);`,
    );
    const { everturn, model } = rig;
    // Both calls arrive before the program ends, and no reply does.
    await model.become({ latencyMs: 3_000 });
    await everturn.mustCall(...rig.run('hedge', agent, '--limit', '2'));
    await model.become({ latencyMs: LATENCY_MS });
    expect(await everturn.mustCall('check', 'hedge', '--json')).toContain('"turns":6,');
    const { stdout } = await everturn.mustRun('export', 'hedge', '--format', 'rows');
    expect(jsonLines(stdout)).toHaveLength(2);
  });

  test('calls tools of its own in the form of the model, and their results extend the sampled ids; their tokens are counted before', async () => {
    const { everturn } = rig;
    const scripted = await scriptedVllm([
      `Let me add.\n${callText('add', { a: 1, b: 2 })}${callText('add', { a: 3, b: 4 })}`,
      'All in all \\boxed{10}.',
    ]);
    try {
      everturn.write(
        'tools.mjs',
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
      everturn.write('ten.jsonl', '{"id": "ten", "question": "Add.", "answer": "10"}');
      const args = ['run', 'ten.jsonl', '--name', 'tools', '--agent', 'node tools.mjs'];
      expect(await everturn.mustCall(...args, ...scripted.flags)).toContain('100.0 %');
      await everturn.mustCall('check', 'tools');
      const { stdout } = await everturn.mustRun('export', 'tools', '--format', 'rows');
      expect(jsonLines<Row>(stdout).map(({ turn_returns }) => turn_returns)).toEqual([[1, 1]]);
    } finally {
      await scripted.server.close();
    }
  });
});
