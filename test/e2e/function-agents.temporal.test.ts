// The promise, by the built command line on the local service: agents that are functions play rollouts as workflows of their
// own, others come for theirs from elsewhere; they, their worker and their server are killed. No call that has a record is
// asked for again.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Running } from '../support/everturn.ts';
import { type AgentRig, openAgentRig } from './agent-rig.ts';

const VOTE = join(import.meta.dirname, '../../examples/agents/vote.ts');
const AWAY = join(import.meta.dirname, '../fixtures/agents/away.py');
const ROWS = 5;
const CALLS = 3;
let rig: AgentRig;
const away = new Set<ChildProcess>();
beforeAll(async () => {
  rig = await openAgentRig(ROWS, 400);
});
afterAll(async () => {
  for (const agent of away) agent.kill('SIGKILL');
  await rig.close();
});

/** A module of an agent with that body. */
function agentOf(name: string, body: string): string {
  const text = `import { agent } from 'everturn/agent';\nexport default agent(async ({ row, ask }) => {${body}});\n`;
  rig.everturn.write(`${name}.ts`, text);
  return `./${name}.ts`;
}

/** What a run asked, and a wait for so many of its asks, or for its end. */
function watch(name: string, run: Running) {
  let isOver = false;
  void run.ended.then(() => (isOver = true));
  const asks = () => rig.asks().filter(({ key }) => key.startsWith(`${name}/`));
  return {
    asks,
    async until(reached: () => boolean) {
      while (!reached() && !isOver) await sleep(50);
    },
  };
}

async function expectWhole(name: string, run: Running, asks: AgentRig['asks']) {
  const ended = await run.ended;
  expect(ended.code, ended.stderr).toBe(0);
  expect(asks().filter(({ known }) => known)).toEqual([]);
  expect(await rig.everturn.mustCall('check', name, '--json')).toContain(`"turns":${CALLS * ROWS},`);
}

describe('an agent that is a function', () => {
  test('goes on where it was when its worker or Temporal is killed: no finished call is asked again', async () => {
    const storm = rig.everturn.start(...rig.run('storm', VOTE, '--max-concurrent', '3'));
    const { asks, until } = watch('storm', storm);
    for (const [count, victim] of [
      [2, 'worker'],
      [6, 'server'],
      [11, 'worker'],
    ] as const) {
      await until(() => asks().length >= count);
      const { pid } = rig.everturn.service()?.[victim] ?? {};
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    }
    await expectWhole('storm', storm, asks);
  }, 240_000);

  test('extends the tokens of a reply that it sends back, and its code is a part of the run', async () => {
    const { everturn, run } = rig;
    const two = agentOf(
      'two',
      `const first = await ask(String(row.question));
      const next = await ask([{ role: 'user', content: String(row.question) }, first.message, { role: 'user', content: 'Sure?' }]);
      return { reward: next.text.length > 0 ? 0.5 : 0 };`,
    );
    await everturn.mustCall(...run('two', two, '--limit', '1'));
    expect(await everturn.mustCall('why', 'two', 'q0')).toMatch(/calls: 2 in 1 branch\n[^]*reward 0.5/);
    await everturn.mustCall('check', 'two');
    const [code] = readdirSync(join(everturn.folder, 'runs/two/code'));
    appendFileSync(join(everturn.folder, 'runs/two/code', code!), '//');
    expect((await everturn.call('check', 'two')).stdout).toContain(`code/${code}: is changed`);

    const many = agentOf('many', `for (let i = 0; ; i++) await ask('Hello ' + i);`);
    await everturn.mustCall(...run('many', many, '--limit', '1', '--max-calls', '3'));
    const broken = await everturn.call(...run('broken', agentOf('broken', `return (;`)));
    expect([broken.code, broken.stderr]).toEqual([2, expect.stringContaining('broken.ts cannot be bundled')]);
  }, 240_000);

  test.concurrent.each([
    ['agent-exited', `await ask('Hello'); throw new TypeError('out of plums');`, 'TypeError: out of plums'],
    ['agent-broken', `await ask('Hello'); return { reward: 'much' } as never;`, ''],
    ['agent-no-call', `return '42';`, ''],
    ['agent-timeout', `await ask('Hello'); await new Promise((end) => setTimeout(end, 60_000));`, ''],
  ])('ends its rollout by name when it fails: %s', { timeout: 240_000 }, async (reason, body, said) => {
    const flags = reason === 'agent-timeout' ? ['--agent-timeout', '4'] : [];
    expect(await rig.failing(reason, agentOf(reason, body), ...flags)).toContain(said);
  });

  test('that throws before there is a function ends its rollout with the words', { timeout: 120_000 }, async () => {
    const head = `import { agent } from 'everturn/agent';\nconst plums = JSON.parse('{"of"')\n`;
    rig.everturn.write('load.ts', `${head}export default agent(async () => plums);\n`);
    expect((await rig.everturn.call(...rig.run('load', './load.ts', '--limit', '1'))).code).toBe(3);
    expect(await rig.everturn.mustCall('why', 'load', 'q0')).toMatch(/agent-exited[^]*It does not load: SyntaxError/);
  });
});

describe('agents that run elsewhere', () => {
  function startAgent(): ChildProcess {
    const env = {
      PATH: process.env['PATH'],
      PYTHONPATH: join(import.meta.dirname, '../../python'),
      EVERTURN_HOME: join(rig.everturn.folder, 'home'),
    };
    const agent = spawn('python3', [AWAY], { env, stdio: 'inherit' });
    away.add(agent);
    agent.once('exit', () => away.delete(agent));
    return agent;
  }

  test('come for their rollouts, and are killed with the worker: no finished call is asked again', async () => {
    const run = rig.everturn.start(...rig.run('away', 'session'));
    const { asks, until } = watch('away', run);
    await until(() => run.output().includes('Sessions   http'));
    const first = startAgent();
    await until(() => asks().length >= 2);
    first.kill('SIGKILL');
    await once(first, 'exit');
    startAgent();
    startAgent();
    await until(() => asks().length >= 8);
    process.kill(rig.everturn.service()!.worker!.pid, 'SIGKILL');
    await expectWhole('away', run, asks);
    expect(asks().length).toBeGreaterThanOrEqual(ROWS * CALLS);
  }, 240_000);
});
