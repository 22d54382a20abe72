// The promise, by the built command line on the local service: an agent that is a function plays rollouts as workflows of its
// own, and its worker and its server are killed. No call that has a record is asked for again.

import { appendFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type HostileModel, startHostileModel } from '../chaos/model.ts';
import { type Everturn, openEverturn } from '../support/everturn.ts';
import { TINY_FOLDER } from '../support/tiny.ts';

const VOTE = join(import.meta.dirname, '../../examples/agents/vote.ts');
const ROWS = 8;
let everturn: Everturn;
let model: HostileModel;
beforeAll(async () => {
  everturn = openEverturn();
  const runs = join(everturn.folder, 'runs');
  model = await startHostileModel(everturn.folder, { kind: 'sglang', latencyMs: 400, seed: 1, runs });
  const rows = Array.from({ length: ROWS }, (_, i) => ({ id: `q${i}`, question: `What is ${i}?`, answer: `${i}` }));
  writeFileSync(join(everturn.folder, 'rows.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'));
});
afterAll(async () => {
  await everturn.close();
  await model.stop();
});

const run = (name: string, agent: string, ...more: string[]) => [
  ...['run', 'rows.jsonl', '--name', name, '--agent', agent, '--model', model.spec, '--tokenizer', TINY_FOLDER],
  ...['--temperature', '0', '--recheck-every', '0', '--max-concurrent', '3', ...more],
];
const write = (name: string, body: string) =>
  writeFileSync(
    join(everturn.folder, name),
    `import { agent } from 'everturn/agent';\nexport default agent(async ({ row, ask }) => {${body}});\n`,
  );

describe('an agent that is a function', () => {
  test('goes on where it was when its worker or Temporal is killed: no finished call is asked again', async () => {
    const storm = everturn.start(...run('storm', VOTE));
    let isOver = false;
    void storm.ended.then(() => (isOver = true));
    const asks = () => model.asks().filter(({ event }) => event === 'ask');
    for (const [count, victim] of [
      [2, 'worker'],
      [7, 'server'],
      [13, 'worker'],
    ] as const) {
      while (asks().length < count && !isOver) await sleep(50);
      const { pid } = everturn.service()?.[victim] ?? {};
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    }
    const ended = await storm.ended;
    expect(ended.code, ended.stderr).toBe(0);
    expect(asks().filter(({ known }) => known)).toEqual([]);
    const checked = await everturn.run('check', 'storm', '--json');
    expect(checked.code, checked.stdout + checked.stderr).toBe(0);
    expect(checked.stdout).toContain(`"turns":${3 * ROWS},`);
  }, 240_000);

  test('extends the tokens of a reply that it sends back, and ends its rollout by name when it fails', async () => {
    write(
      'two.ts',
      `const first = await ask(String(row.question));
      const next = await ask([{ role: 'user', content: String(row.question) }, first.message, { role: 'user', content: 'Sure?' }]);
      return { reward: next.text.length > 0 ? 0.5 : 0 };`,
    );
    const two = await everturn.run(...run('two', './two.ts', '--limit', '1'));
    expect(two.code, two.stderr).toBe(0);
    expect((await everturn.call('why', 'two', 'q0')).stdout).toMatch(/calls: 2 in 1 branch\n[^]*reward 0.5/);
    expect((await everturn.run('check', 'two')).code).toBe(0);
    const [code] = readdirSync(join(everturn.folder, 'runs/two/code'));
    appendFileSync(join(everturn.folder, 'runs/two/code', code!), '//');
    expect((await everturn.run('check', 'two')).stdout).toContain(`code/${code}: is changed`);

    const faults: Readonly<Record<string, readonly string[]>> = {
      'agent-exited': [`await ask('Hello'); throw new TypeError('out of plums');`],
      'agent-broken': [`await ask('Hello'); return { reward: 'much' } as never;`],
      'agent-no-call': [`return '42';`],
      'agent-timeout': [
        `await ask('Hello'); await new Promise((end) => setTimeout(end, 60_000));`,
        '--agent-timeout',
        '4',
      ],
    };
    for (const [reason, [body, ...flags]] of Object.entries(faults)) {
      write('fault.ts', body!);
      const ended = await everturn.run(...run(reason, './fault.ts', '--limit', '1', ...flags));
      expect(ended.code, ended.stderr).toBe(3);
      const why = (await everturn.call('why', reason, 'q0')).stdout;
      expect(why).toContain(reason);
      if (reason === 'agent-exited') expect(why).toContain('TypeError: out of plums');
    }
    // The module throws before there is a function.
    writeFileSync(
      join(everturn.folder, 'load.ts'),
      `import { agent } from 'everturn/agent';\nconst plums = JSON.parse('{"of"')\nexport default agent(async () => plums);\n`,
    );
    expect((await everturn.run(...run('load', './load.ts', '--limit', '1'))).code).toBe(3);
    expect((await everturn.call('why', 'load', 'q0')).stdout).toMatch(/agent-exited[^]*It does not load: SyntaxError/);
    write('many.ts', `for (let i = 0; ; i++) await ask('Hello ' + i);`);
    const many = await everturn.run(...run('many', './many.ts', '--limit', '1', '--max-calls', '3'));
    expect(many.code, many.stderr).toBe(0);
    write('broken.ts', `return (;`);
    const broken = await everturn.run(...run('broken', './broken.ts'));
    expect([broken.code, broken.stderr]).toEqual([2, expect.stringContaining('broken.ts cannot be bundled')]);
  }, 240_000);
});
