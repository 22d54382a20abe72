// Two workers, one of which is frozen for longer than its heartbeats may fail to come, as a busy or suspended machine is. The
// other plays the agents again, in the same folders; the first one wakes up among them, and changes nothing.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { openFileStore } from '../../records/file-store.ts';
import { type Everturn, openEverturn, type Running } from '../support/everturn.ts';
import { openNamespace } from '../support/namespace.ts';
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
  const namespace = `agents-${process.pid}-${Date.now()}`;
  const cluster = { TEMPORAL_ADDRESS: inject('temporalAddress'), TEMPORAL_NAMESPACE: namespace };
  let connection: Connection;
  let client: Client;
  let everturn: Everturn;
  let model: TextServer;
  const workers: Running[] = [];

  beforeAll(async () => {
    connection = await Connection.connect({ address: cluster.TEMPORAL_ADDRESS });
    client = await openNamespace(connection, namespace);
    model = await textServer('Fine.');
    everturn = openEverturn(cluster);
    const rows = ['ends', 'stays'].map((question) => JSON.stringify({ id: question, question, answer: '1' }));
    writeFileSync(join(everturn.folder, 'rows.jsonl'), rows.join('\n'));
    writeFileSync(join(everturn.folder, 'agent.mjs'), AGENT);
  });
  afterAll(async () => {
    for (const { child } of workers) child.kill('SIGKILL');
    model.close();
    await everturn.close();
    await client.connection.close();
  });

  async function startWorker(): Promise<Running> {
    const worker = everturn.start('worker');
    workers.push(worker);
    await until('a worker that polls', () => (worker.output().match(/RUNNING/g) ?? []).length >= 2 || undefined);
    return worker;
  }

  const file = (name: string) => join(everturn.folder, name);
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
    const first = await startWorker();
    const args = ['--name', 'frozen', '--agent', 'node agent.mjs', '--model', model.model, '--detach'];
    const begun = await everturn.run('run', 'rows.jsonl', ...args);
    expect(begun.code, begun.stderr).toBe(0);
    const [ends, stays] = await Promise.all([began('ends-began-first'), began('stays-began-first')]);
    const ofFirst = [...(await programs(ends)), ...(await programs(stays))];
    const guards = childrenOf(first.child.pid!).filter((pid) => ofFirst.includes(pid));
    expect(guards).toHaveLength(2);
    await startWorker();
    first.child.kill('SIGSTOP');
    // Its program ends with a reward that its worker reads when it wakes up.
    writeFileSync(file('ends-go-first'), '');
    await until('the first program has ended', async () => (await programs(ends)).length === 0 || undefined);

    const again = await Promise.all([began('ends-began-again'), began('stays-began-again')]);
    expect(again).toEqual([ends, stays]);
    expect((await programs(stays)).filter((pid) => ofFirst.includes(pid))).toEqual([]);
    first.child.kill('SIGCONT');
    await until('the first worker has seen their ends', () => {
      const there = childrenOf(first.child.pid!);
      return !guards.some((pid) => there.includes(pid)) || undefined;
    });
    for (const name of ['ends-go-again', 'stays-go-again']) writeFileSync(file(name), '');

    const ended = await everturn.run('status', 'frozen', '--follow');
    expect(ended.code, ended.stderr).toBe(0);
    const store = openFileStore(join(everturn.folder, 'runs'), 'frozen');
    for (const query of ['ends', 'stays']) {
      const verdict = await store.getVerdict({ run: 'frozen', query, sample: 0, attempt: 1 }, 1);
      expect(verdict?.record.reward).toBe(1);
    }
    const checked = await everturn.run('check', 'frozen', '--json');
    expect(checked.code, checked.stdout + checked.stderr).toBe(0);
    expect(checked.stdout).toContain('"turns":2,');
  });
});
