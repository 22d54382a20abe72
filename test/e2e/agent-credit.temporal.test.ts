// The promise, by the built command line on the local service: a program gives its calls rewards of their own, is killed in the
// middle, and the rows have each reward at its call, discounted along the branch, and the calls that are trained alone.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jsonLines } from '../support/json-lines.ts';
import { type AgentRig, openAgentRig } from './agent-rig.ts';

const PROGRAM = `
const { OPENAI_BASE_URL: base, OPENAI_API_KEY: key, EVERTURN_ATTEMPT: attempt } = process.env;
const post = async (path, body, headers = {}) => {
  const response = await fetch(base + path, { method: 'POST', headers: { authorization: 'Bearer ' + key, ...headers }, body: JSON.stringify(body) });
  return { status: response.status, ...(await response.json()) };
};
const user = (content) => ({ role: 'user', content });
const must = (got, wanted) => {
  if (JSON.stringify(got) !== JSON.stringify(wanted)) throw new Error(JSON.stringify(got));
};
await post('/chat/completions', { model: 'small', messages: [user('Give it a title.')], max_tokens: 5 });
const first = await post('/chat/completions', { model: 'main', messages: [user('One?')] });
const messages = [user('One?'), first.choices[0].message, user('Two?')];
const second = await post('/chat/completions', { model: 'main', messages, metadata: { tag: 'answer' } });
// The last one counts.
await post('/reward', { call: second.id, reward: 0.25 });
if (attempt === '1') process.kill(process.pid, 'SIGKILL');
const call = second.id.slice(9, 27);
must(await post('/reward', { call: second.id, reward: 0.75 }), { status: 200, ok: true, call, reward: 0.75 });
const aside = { messages: [...messages, second.choices[0].message, user('And a poem?')], model: 'main' };
await post('/chat/completions', aside, { 'x-everturn-train': '0', 'x-everturn-tag': 'poem' });
must((await post('/reward', { call: 'last', reward: 2 })).reward, 2);
must((await post('/reward', { call: second.id, reward: 0.75, rewards: { form: 1 } })).status, 400);
must((await post('/reward', { call: 'chatcmpl-00', reward: 1 })).status, 400);
console.log(JSON.stringify({ reward: 1, rewards: { form: 0.5, right: 0.5 } }));
`;

interface Row {
  readonly [field: string]: unknown;
  readonly response_mask: readonly number[];
  readonly response_ids: readonly number[];
  readonly turn_ends: readonly number[];
  readonly token_rewards: readonly number[];
}

let rig: AgentRig;
beforeAll(async () => {
  rig = await openAgentRig(2, 20);
  rig.everturn.write('credit.mjs', PROGRAM);
});
afterAll(() => rig.close());

const exported = async (name: string, ...more: string[]) =>
  (await rig.everturn.mustRun('export', name, ...more)).stdout;

describe('an agent that gives its calls rewards', () => {
  const flags = ['--train-calls', 'model=main', '--turn-discount', '0.5'];

  test('has them in its rows, once, though it is killed in the middle; side calls are not trained', async () => {
    const { everturn, run } = rig;
    await everturn.mustRun(...run('credit', 'node credit.mjs', ...flags));
    expect(rig.asks()).toHaveLength(2 * 4);
    await everturn.mustCall('check', 'credit');
    const rows = jsonLines<Row>(await exported('credit', '--format', 'rows', '--advantages', 'mean'));
    expect(rows).toHaveLength(2);
    for (const row of rows) {
      // The poem, which nobody trains, has 2, and behind it the rollout 1.
      expect(row).toMatchObject({
        ...{ turn_rewards: [0, 2.25], turn_returns: [1.125, 2.25], reward: 1.125, weight: 1, branches: 1 },
        ...{ turn_models: ['main', 'main'], turn_tags: [null, 'answer'], turn_advantages: [0, 0] },
        rewards: { form: 0.5, right: 0.5 },
      });
      const [end, last] = row.turn_ends as [number, number];
      expect(row.token_rewards.map((reward, i) => [i, reward]).filter(([, reward]) => reward !== 0)).toEqual([
        [last - 1, 2.25],
      ]);
      expect(row.response_mask.slice(0, end)).not.toContain(0);
    }
    const samples = jsonLines<{ data: { rewards: number[] } }>(
      await exported('credit', '--format', 'areal', '--sequences', 'turn'),
    );
    expect(samples.map(({ data }) => data.rewards)).toEqual([[1.125], [2.25], [1.125], [2.25]]);
    const show = await everturn.mustCall('show', 'credit', 'q0');
    expect(show).toMatch(/call 1 · a root · asked for small · not trained/);
    expect(show).toMatch(/call 3 · goes on from call 2 · tag answer · asked for main · reward 0.75/);
    expect(show).toMatch(/call 4 · goes on from call 3 · tag poem · asked for main · not trained · reward 2/);
  }, 120_000);

  test('is another run with another choice of calls, and a choice of another form is refused', async () => {
    const { everturn, run } = rig;
    const other = await everturn.call(...run('credit', 'node credit.mjs', '--turn-discount', '0.5'));
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('trainCalls')]);
    const odd = await everturn.call(...run('odd', 'node credit.mjs', '--train-calls', 'main'));
    expect([odd.code, odd.stderr]).toEqual([2, expect.stringContaining('tag=main, model=main')]);
    const none = await everturn.call('run', 'rows.jsonl', '--name', 'none', ...flags);
    expect([none.code, none.stderr]).toEqual([
      2,
      expect.stringContaining('--train-calls is for the program of an agent'),
    ]);
  });
});
