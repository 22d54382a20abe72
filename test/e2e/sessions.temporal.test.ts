// The promise, by the built command line on the local service: agents that run elsewhere come for the rollouts of a run. They
// and the worker are killed, and no call that has a record is asked for again.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type HostileModel, startHostileModel } from '../chaos/model.ts';
import { type Everturn, openEverturn } from '../support/everturn.ts';
import { TINY_FOLDER } from '../support/tiny.ts';

const ROWS = 6;
const CALLS = 3;
let everturn: Everturn;
let model: HostileModel;
const agents = new Set<ChildProcess>();
beforeAll(async () => {
  everturn = openEverturn();
  const runs = join(everturn.folder, 'runs');
  model = await startHostileModel(everturn.folder, { kind: 'sglang', latencyMs: 400, seed: 1, runs });
  const rows = Array.from({ length: ROWS }, (_, i) => ({ id: `q${i}`, question: `What is ${i}?`, answer: `${i}` }));
  writeFileSync(join(everturn.folder, 'rows.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'));
});
afterAll(async () => {
  for (const agent of agents) agent.kill('SIGKILL');
  await everturn.close();
  await model.stop();
});

function startAgent(): ChildProcess {
  const env = {
    PATH: process.env['PATH'],
    PYTHONPATH: join(import.meta.dirname, '../../python'),
    EVERTURN_HOME: join(everturn.folder, 'home'),
  };
  const agent = spawn('python3', [join(import.meta.dirname, '../fixtures/agents/away.py')], { env, stdio: 'inherit' });
  agents.add(agent);
  agent.once('exit', () => agents.delete(agent));
  return agent;
}

describe('agents that run elsewhere', () => {
  test('come for their rollouts, and are killed with the worker: no finished call is asked again', async () => {
    const run = everturn.start(
      ...['run', 'rows.jsonl', '--name', 'away', '--agent', 'session', '--model', model.spec],
      ...['--tokenizer', TINY_FOLDER, '--temperature', '0', '--recheck-every', '0'],
    );
    let isOver = false;
    void run.ended.then(() => (isOver = true));
    const asks = () => model.asks().filter(({ event }) => event === 'ask');
    const asked = async (count: number) => {
      while (asks().length < count && !isOver) await sleep(50);
    };
    while (!run.output().includes('Sessions   http') && !isOver) await sleep(50);
    const first = startAgent();
    await asked(2);
    first.kill('SIGKILL');
    await once(first, 'exit');
    startAgent();
    startAgent();
    await asked(8);
    process.kill(everturn.service()!.worker!.pid, 'SIGKILL');
    const ended = await run.ended;
    expect(ended.code, ended.stderr).toBe(0);
    expect(asks().length).toBeGreaterThanOrEqual(ROWS * CALLS);
    expect(asks().filter(({ known }) => known)).toEqual([]);
    const checked = await everturn.run('check', 'away', '--json');
    expect(checked.code, checked.stdout + checked.stderr).toBe(0);
    expect(checked.stdout).toContain(`"turns":${ROWS * CALLS},`);
  }, 240_000);
});
