// The built command line plays a run whose model calls tools: on the local service, over a server that speaks vLLM's
// protocol, with a real chat template. Its worker is killed again and again; a server outside counts the orders.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFileStore } from '../../records/file-store.ts';
import { readTrajectories } from '../../records/reading/trajectories.ts';
import { type Everturn, openEverturn } from '../support/everturn.ts';
import { type HttpListener, listenHttp } from '../support/http-listener.ts';
import { scriptedVllm, type ScriptedVllm } from '../support/scripted-vllm.ts';
import { callText } from '../support/tool-chat.ts';

const ROOT = join(import.meta.dirname, '../..');
const SHOP = join(ROOT, 'examples/tools/shop.ts');
const MCP = `node ${join(import.meta.dirname, '../environments/tools/mcp-server.mjs')}`;
const ROWS = 5;
const KILLS = 2;
const SEED = Number(process.env['KILL_SEED'] ?? Math.floor(Math.random() * 1e9));
let random = SEED;
const rand = () => (random = (random * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;

let everturn: Everturn;
let model: ScriptedVllm;
let shop: HttpListener;
const orders: string[] = [];
beforeAll(async () => {
  shop = await listenHttp((request, response) => {
    orders.push(String(request.headers['idempotency-key']));
    // Long enough for a kill to come between the call and its record.
    setTimeout(() => response.end('ok'), 50 + 400 * rand());
  });
  model = await scriptedVllm([
    `${callText('price', { fruit: 'plum' })}\n${callText('add', { a: 1, b: 2 })}`,
    callText('order', { fruit: 'plum', count: 2 }),
    `${callText('order', { fruit: 'pear', count: 1 })}\n${callText('nothing', {})}`,
    'All in all \\boxed{14}.',
  ]);
  everturn = openEverturn({ ENVIRONMENT_SHOP: shop.url });
  const question = 'What do they cost?';
  const rows = Array.from({ length: ROWS }, (_, i) => ({ id: `q${i}`, question: `${question} ${i}`, answer: '14' }));
  everturn.write('rows.jsonl', rows);
});
afterAll(async () => {
  await everturn.close();
  await model.server.close();
  shop.close();
});
const run = (name: string, ...more: string[]) => [
  ...['run', 'rows.jsonl', '--name', name, '--num-turns', '1', '--tool', SHOP, '--mcp', MCP],
  ...[...model.flags, ...more],
];

describe('a run with tools on the local service', () => {
  test('plays to its end, is proved, and shows its calls', { timeout: 300_000 }, async () => {
    const played = await everturn.mustRun(...run('calm', '--limit', '2'));
    expect(played.stderr).toContain('Tool       order (module, once, ');
    await everturn.mustCall('check', 'calm');
    expect(orders.toSorted()).toEqual(
      ['q0', 'q1'].flatMap((query) => [`calm/${query}/0/1/2/1`, `calm/${query}/0/1/3/1`]),
    );
    const { settings } = JSON.parse(readFileSync(join(everturn.folder, 'runs/calm/run.json'), 'utf8')) as {
      settings: { tools: { format: string; list: { name: string }[] } };
    };
    expect(settings.tools.format).toBe('hermes');
    const shown = await everturn.mustCall('show', 'calm', 'q0');
    expect(shown).toContain('call 1 · price {"fruit":"plum"} → 5  (ok, pure, ');
    expect(shown).toContain('call 2 · nothing {} → There is no tool "nothing".');
    expect(await everturn.mustCall('why', 'calm', 'q0')).toContain('turn 1: called price, add (');
    expect((await everturn.call(...run('calm', '--limit', '2'))).stderr).toContain('has ended');
    const other = await everturn.call(...run('calm', '--limit', '2', '--max-tool-calls', '3'));
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('differs: tools (') as string]);
  });

  test('is shown without a model that can call tools: a failed call, its traceback, a call, a right answer', async () => {
    const played = await everturn.mustRun('demo', '--tools', '--limit', '2');
    expect(played.stderr).toContain('A script stands in for the model');
    const [name = ''] = /demo-\d+-\d+/.exec(played.stderr) ?? [];
    const shown = await everturn.mustCall('show', name, 'arith-0001');
    expect(shown).toMatch(
      /call 1 · calculate .*×.*\(failed, pure, .*\n {4}Error: ×.*\n {6}at calculator\.ts:\d+ in valueOf\n/,
    );
    expect(shown).toMatch(/call 1 · calculate .*→ 259 .*\n\n.*✓ right/s);
    await everturn.mustCall('check', name);
  });

  test(`orders nothing twice under ${KILLS} kill -9 of its worker`, { timeout: 500_000 }, async () => {
    console.log(`KILL_SEED=${SEED}`);
    orders.length = 0;
    const going = everturn.start(...run('storm', '--max-failed', '1000', '--max-concurrent', '8'));
    let over = false;
    void going.ended.then(() => (over = true));
    let kills = 0;
    while (!over && kills < KILLS) {
      await sleep(500 + 1500 * rand());
      const pid = everturn.service()?.worker?.pid;
      if (pid === undefined || orders.length === 0) continue;
      try {
        process.kill(pid, 'SIGKILL');
        kills++;
      } catch {
        // It is being started again.
      }
    }
    const ended = await going.ended;
    expect(ended.code, ended.stderr).toBe(0);
    const twice = orders.filter((key, i) => orders.indexOf(key) < i);
    expect(twice).toEqual([]);
    const ends: string[] = [];
    for await (const { end } of readTrajectories(openFileStore(join(everturn.folder, 'runs'), 'storm')))
      ends.push(end!.failure?.reason ?? end!.outcome);
    const unknown = ends.filter((end) => end === 'tool-outcome-unknown').length;
    console.log(JSON.stringify({ kills, orders: orders.length, ends: ends.length, unknown }));
    expect(ends).toHaveLength(ROWS);
    expect([...new Set(ends)].filter((end) => end !== 'complete' && end !== 'tool-outcome-unknown')).toEqual([]);
    // A rollout that is complete has ordered both.
    expect(orders.length).toBeGreaterThanOrEqual(2 * ends.filter((end) => end === 'complete').length);
    await everturn.mustCall('check', 'storm');
  });
});

describe('a run with tools that cannot be', () => {
  test.each([
    [['--tool', 'python', '--tool', 'python'], 2, 'Two tools are named "python"'],
    [['--tool', './none.ts'], 2, 'is no file'],
    [['--mcp', 'no-such-program --x'], 2, 'does not begin'],
    [['--tool', SHOP, '--tool-format', 'smoke-signals'], 2, 'is no format'],
    [['--tool', SHOP, '--model', 'tiny'], 5, 'tool'],
  ])('is refused with its exit code: %j', { timeout: 100_000 }, async (flags, code, said) => {
    const ended = await everturn.call('run', 'rows.jsonl', '--name', 'refused', ...flags);
    expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(said) as string]);
  });
});
