// Two workers, one of which is frozen for longer than its heartbeats may fail to come, as a busy or suspended machine is. The
// other plays the agents again, in the same folders; the first one wakes up among them, and changes nothing.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFileStore } from '../../records/file-store.ts';
import { type Cluster, openCluster } from '../support/cluster.ts';
import { processesWith } from '../../local/machine/process.ts';
import { childrenOf } from '../support/processes.ts';
import { type TextServer, textServer } from '../support/text-server.ts';
import { until } from '../support/until.ts';

/** Asks once, waits for its word, and grades itself by its folder: 1 if that is its own and whole. */
const AGENT = `
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
const { question } = JSON.parse(readFileSync(process.env.EVERTURN_ROW, 'utf8'));
const said = process.env.EVERTURN_CODE + '/' + question + '-';
const which = existsSync(said + 'began-first') ? 'again' : 'first';
const left = readdirSync('.').filter((name) => !name.startsWith('.'));
writeFileSync('own-' + which, '');
const reply = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', { method: 'POST',
  headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
  body: JSON.stringify({ messages: [{ role: 'user', content: question + ' in ' + process.cwd() }] }) });
await reply.json();
writeFileSync(said + 'began-' + which, process.cwd());
while (!existsSync(said + 'go-' + which)) await new Promise((resolve) => setTimeout(resolve, 20));
const there = readdirSync(process.cwd()).filter((name) => !name.startsWith('.'));
const isOwn = left.length === 0 && there.join() === 'own-' + which;
console.log(JSON.stringify({ reward: which === 'first' ? 0.125 : isOwn ? 1 : 0 }));
`;

describe('an agent whose worker is frozen', { timeout: 600_000 }, () => {
  let cluster: Cluster;
  let model: TextServer;
  beforeAll(async () => {
    cluster = await openCluster('agents');
    model = await textServer('Fine.');
    const rows = ['ends', 'stays'].map((question) => ({ id: question, question, answer: '1' }));
    cluster.everturn.write('rows.jsonl', rows);
    cluster.everturn.write('agent.mjs', AGENT);
  });
  afterAll(async () => {
    model.close();
    await cluster.close();
  });

  const file = (name: string) => join(cluster.everturn.folder, name);
  const began = (name: string) =>
    until(
      `${name} has begun`,
      () => (existsSync(file(name)) && readFileSync(file(name), 'utf8')) || undefined,
      // The server hands attempts to the frozen worker, too, until its open polls have ended.
      240_000,
    );
  /** In that folder, the guards of the program included. */
  const programs = async (folder: string) =>
    (await processesWith('EVERTURN_ROW', join(folder, '.everturn-row.json'))).map(({ pid }) => pid);

  test('is played again in the same folder, its own and whole, and what the first attempt says late does not count', async () => {
    const { everturn } = cluster;
    const first = await cluster.startWorker();
    const args = ['--name', 'frozen', '--agent', 'node agent.mjs', '--model', model.model, '--detach'];
    await everturn.mustCall('run', 'rows.jsonl', ...args);
    const [ends, stays] = await Promise.all([began('ends-began-first'), began('stays-began-first')]);
    const ofFirst = [...(await programs(ends)), ...(await programs(stays))];
    const guards = childrenOf(first.child.pid!).filter((pid) => ofFirst.includes(pid));
    expect(guards).toHaveLength(2);
    await cluster.startWorker();
    first.child.kill('SIGSTOP');
    // Its program ends with a reward that its worker reads when it wakes up.
    everturn.write('ends-go-first', '');
    await until('the first program has ended', async () => (await programs(ends)).length === 0 || undefined);

    const again = await Promise.all([began('ends-began-again'), began('stays-began-again')]);
    expect(again).toEqual([ends, stays]);
    expect((await programs(stays)).filter((pid) => ofFirst.includes(pid))).toEqual([]);
    first.child.kill('SIGCONT');
    await until('the first worker has seen their ends', () => {
      const there = childrenOf(first.child.pid!);
      return !guards.some((pid) => there.includes(pid)) || undefined;
    });
    for (const name of ['ends-go-again', 'stays-go-again']) everturn.write(name, '');

    await everturn.mustCall('status', 'frozen', '--follow');
    const store = openFileStore(join(everturn.folder, 'runs'), 'frozen');
    for (const query of ['ends', 'stays']) {
      const verdict = await store.get('verdict', { run: 'frozen', query, sample: 0, attempt: 1 }, 1);
      expect(verdict?.record.reward).toBe(1);
    }
    expect(await everturn.mustCall('check', 'frozen', '--json')).toContain('"turns":2,');
  });
});
