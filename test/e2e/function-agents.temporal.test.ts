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
import { jsonLines } from '../support/json-lines.ts';
import { type AgentRig, openAgentRig } from './agent-rig.ts';

const VOTE = join(import.meta.dirname, '../../examples/agents/vote.ts');
const AWAY = join(import.meta.dirname, '../fixtures/agents/away.py');
const ROWS = 5;
/** Those that play under kills. */
const UNDER_KILLS = 4;
const PLAYED = ['--limit', String(UNDER_KILLS)];
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
  const text = `import { agent } from 'everturn/agent';\nexport default agent(async ({ row, ask, reward }) => {${body}});\n`;
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
  expect(await rig.everturn.mustCall('check', name, '--json')).toContain(`"turns":${CALLS * UNDER_KILLS},`);
}

describe('an agent that is a function', () => {
  test('goes on where it was when its worker or Temporal is killed: no finished call is asked again', async () => {
    const storm = rig.everturn.start(...rig.run('storm', VOTE, ...PLAYED, '--max-concurrent', '3'));
    const { asks, until } = watch('storm', storm);
    for (const [count, victim] of [
      [2, 'worker'],
      [6, 'server'],
    ] as const) {
      await until(() => asks().length >= count);
      const { pid } = rig.everturn.service()?.[victim] ?? {};
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    }
    await expectWhole('storm', storm, asks);
  }, 240_000);

  /** What it does for each row; one module, because each costs seconds to bundle. */
  const KINDS = [
    `const first = await ask(String(row.question));
    const next = await ask([{ role: 'user', content: String(row.question) }, first.message, { role: 'user', content: 'Sure?' }]);
    const aside = await ask({ messages: [{ role: 'user', content: 'Hm.' }], tag: 'aside', train: false });
    reward(first, 0.25);
    reward({ id: aside.id }, 8);
    return { reward: next.text.length > 0 ? 0.5 : 0 };`,
    `for (let i = 0; ; i++) await ask('Hello ' + i);`,
    `await ask('Hello'); throw new TypeError('out of plums');`,
    `await ask('Hello'); return { reward: 'much' } as never;`,
    `return '42';`,
  ];

  test('extends the tokens of a reply that it sends back, ends by name where it fails, and its code is a part of the run', async () => {
    const { everturn, run } = rig;
    const kinds = agentOf('kinds', KINDS.map((body, i) => `if (row.id === 'q${i}') {${body}}`).join('\n'));
    const ended = await everturn.call(...run('kinds', kinds, '--max-calls', '3'));
    expect(ended.code, ended.stderr).toBe(3);
    const says = [
      /calls: 3 in 1 branch\n[^]*reward 0.5/,
      /calls: 3 /,
      /agent-exited[^]*TypeError: out of plums/,
      /agent-broken/,
      /agent-no-call/,
    ];
    for (const [i, words] of says.entries()) expect(await everturn.mustCall('why', 'kinds', `q${i}`)).toMatch(words);
    await everturn.mustCall('check', 'kinds');
    const { stdout } = await everturn.mustRun('export', 'kinds', '--format', 'rows');
    expect(jsonLines(stdout)[0]).toMatchObject({
      turn_rewards: [0.25, 0.5],
      turn_returns: [0.75, 0.5],
      turn_tags: [null, null],
    });
    expect(await everturn.mustCall('show', 'kinds', 'q0')).toContain('tag aside · not trained · reward 8');
    const [code] = readdirSync(join(everturn.folder, 'runs/kinds/code'));
    appendFileSync(join(everturn.folder, 'runs/kinds/code', code!), '//');
    expect((await everturn.call('check', 'kinds')).stdout).toContain(`code/${code}: is changed`);
  }, 240_000);

  test('ends by name where it does not end in time', { timeout: 240_000 }, async () => {
    const sleeps = agentOf('sleeps', `await ask('Hello'); await new Promise((end) => setTimeout(end, 60_000));`);
    await rig.failing('agent-timeout', sleeps, '--agent-timeout', '4');
  });

  test('is refused where it cannot be bundled', async () => {
    const broken = await rig.everturn.call(...rig.run('broken', agentOf('broken', `return (;`)));
    expect([broken.code, broken.stderr]).toEqual([2, expect.stringContaining('broken.ts cannot be bundled')]);
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
    const run = rig.everturn.start(...rig.run('away', 'session', ...PLAYED));
    const { asks, until } = watch('away', run);
    await until(() => run.output().includes('Sessions   http'));
    const first = startAgent();
    await until(() => asks().length >= 2);
    first.kill('SIGKILL');
    await once(first, 'exit');
    startAgent();
    startAgent();
    await until(() => asks().length >= 6);
    process.kill(rig.everturn.service()!.worker!.pid, 'SIGKILL');
    await expectWhole('away', run, asks);
    expect(asks().length).toBeGreaterThanOrEqual(UNDER_KILLS * CALLS);
  }, 240_000);
});
