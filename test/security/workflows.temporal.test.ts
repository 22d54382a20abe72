// A stranger who reaches the local Temporal server starts workflows whose inputs name folders, files, models, servers and
// variables. Each attack is tried for real, against the service that a user's own run started and goes on using.

import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection, WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Everturn, openEverturn } from '../support/everturn.ts';
import { type HttpListener, listenHttp } from '../support/http-listener.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const SECRETS = {
  MY_SECRET: 'hush-hush-1234567890',
  OPENAI_API_KEY: 'sk-own-1234567890abcdef',
  MODEL_KEY: 'key-of-this-run-123456',
};
const ROW = { id: 'q', question: 'What is 1 + 1?', answer: '2' };

/** The folder that the operator allows. */
const MINE = scratchFolder();
let everturn: Everturn;
let client: Client;
let listener: HttpListener;
let url: string;
/** What the stranger's server was sent. */
const sent: string[] = [];
let count = 0;

beforeAll(async () => {
  listener = await listenHttp((request, response) => {
    sent.push(`${request.url} ${JSON.stringify(request.headers)}`);
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ choices: [{ message: { content: 'It is \\boxed{2}.' }, finish_reason: 'stop' }] }));
    });
  });
  url = listener.url;
  everturn = openEverturn({ ...SECRETS, EVERTURN_RUNS_UNDER: MINE });
  for (const name of ['stranger', 'data']) mkdirSync(join(everturn.folder, name));
  everturn.write('rows.jsonl', [ROW]);
  everturn.write('data/private.jsonl', [{ ...ROW, question: 'private?' }]);
  const model = ['--model', `openai:${url}#m`, '--api-key-env', 'MODEL_KEY', '--num-turns', '1'];
  await everturn.mustRun('run', 'rows.jsonl', '--name', 'own', ...model);
  client = new Client({ connection: await Connection.connect({ address: everturn.service()!.address }) });
}, 120_000);
afterAll(async () => {
  await client?.connection.close();
  listener.close();
  await everturn.close();
});

/** How a workflow of that input ends: the type of its failure, and what it said. */
async function attempt(
  type: 'rollout' | 'collection' | 'updateWeights',
  input: object,
): Promise<{ reason: string; message: string }> {
  const workflowId = `attack-${count++}`;
  try {
    const options = { taskQueue: 'everturn', workflowId, workflowExecutionTimeout: '60 s', args: [input] } as const;
    const result: unknown = await client.workflow.execute(type, options);
    const { reason } = result as { reason?: string };
    return { reason: reason ?? 'none', message: JSON.stringify(result) };
  } catch (error) {
    let cause: unknown = error instanceof WorkflowFailedError ? error.cause : error;
    while (cause instanceof Error && !(cause instanceof ApplicationFailure) && cause.cause) ({ cause } = cause);
    const failure = cause as ApplicationFailure;
    return { reason: failure.type ?? failure.name, message: failure.message };
  }
}

const within = (...parts: string[]) => join(everturn.folder, ...parts);
const mine = (...parts: string[]) => join(MINE, ...parts);
const everything = () =>
  [...listed(everturn.folder), ...listed(MINE).map((name) => `mine/${name}`)]
    .filter((name) => !/^home\/(temporal|logs|last|service)|^runs\/\w+\/\.fleet/.test(name))
    .sort();
const listed = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' });

describe('a run that a command of the user started', () => {
  test('sends its key to its own server, whatever the variable is called', () => {
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.every((request) => request.includes(SECRETS.MODEL_KEY))).toBe(true);
  });

  test('takes no other query and no other settings from a workflow', async () => {
    const before = everything();
    const out = within('runs');
    for (const extra of [
      { row: ROW },
      { row: ROW, attempt: 7 },
      { index: 0, attempt: 8, settings: { model: 'tiny' } },
    ]) {
      expect(await attempt('rollout', { run: 'own', out, ...extra }), JSON.stringify(extra)).toMatchObject({
        reason: 'not-allowed',
      });
    }
    expect(everything()).toEqual(before);
  });
});

describe('a workflow that a stranger starts', () => {
  test('writes in no folder but those that the operator allows', async () => {
    const before = everything();
    symlinkSync(within('stranger'), within('link'));
    symlinkSync(within('stranger'), mine('inside'));
    symlinkSync(within('nowhere'), mine('dangling'));
    // Each form of a path that is refused: local/permissions/permissions.test.ts.
    const outs = [within('link'), mine('inside', 'deeper'), mine('dangling'), '/tmp', `${mine()}/..`, 'x', '', 7, null];
    for (const out of [within('stranger'), ...outs]) {
      for (const [type, extra] of [
        ['rollout', { row: ROW }],
        ['collection', { dataset: within('rows.jsonl') }],
      ] as const) {
        const { reason, message } = await attempt(type, { run: 'x', out, ...extra });
        expect(reason, `${type} ${JSON.stringify(out)}: ${message}`).toBe('not-allowed');
      }
    }
    expect(everything().filter((name) => !['link', 'mine/inside', 'mine/dangling'].includes(name))).toEqual(before);
    const { message } = await attempt('rollout', { run: 'x', out: within('stranger'), row: ROW });
    expect(message).toContain('everturn worker --runs-under');
    // A folder that is a link is no way out where its run is one.
    symlinkSync(within('stranger'), mine('run-link'));
    expect(await attempt('rollout', { run: 'run-link', out: mine(), row: ROW })).toMatchObject({
      reason: 'not-allowed',
    });
  });

  test('leaves its folder by no name of a run, a query, a sample or an attempt', async () => {
    const before = everything();
    const up = '../../../../../../stranger/x';
    for (const [what, input] of Object.entries({
      sample: { row: ROW, sample: `/${up}` },
      attempt: { row: ROW, attempt: `1/${up}` },
      run: { row: ROW, run: up },
      both: { row: ROW, sample: -1, attempt: 1.5 },
    })) {
      const asked = { run: `names-${what}`, out: mine(), settings: { model: 'tiny' }, ...input };
      expect(['not-allowed', 'run-name'], what).toContain((await attempt('rollout', asked)).reason);
    }
    const settings = { numTurns: 1, maxNewTokens: 2 };
    const { reason } = await attempt('rollout', { run: 'names', out: mine(), settings, row: { ...ROW, id: up } });
    expect(reason).toBe('bad-row');
    expect(everything()).toEqual(before);
    expect(readdirSync(within('stranger'))).toEqual([]);
  });

  test('has no variable of the environment sent anywhere, not even one that is meant to be a key', async () => {
    const asked = sent.length;
    const play = (model: string, apiKeyEnv: string) =>
      attempt('rollout', { run: 'keys', out: mine(), row: ROW, settings: { model, apiKeyEnv } });
    for (const apiKeyEnv of ['OPENAI_API_KEY', 'MODEL_KEY', 'PATH', 'NO_SUCH_API_KEY'])
      for (const model of [`openai:${url}#m`, `vllm:${url},http://127.0.0.1:9`])
        expect((await play(model, apiKeyEnv)).reason, `${model} ${apiKeyEnv}`).toBe('not-allowed');
    expect(sent.length).toBe(asked);
    expect(existsSync(mine('keys'))).toBe(false);
    const { message } = await play(`openai:${url}#m`, 'MY_SECRET');
    expect(message).toContain(`--api-key-env MY_SECRET=${url}`);
    expect(message).not.toContain(SECRETS.MY_SECRET);
  });

  test('asks a server without a key where none is named', async () => {
    const asked = sent.length;
    const settings = { model: `openai:${url}#m`, numTurns: 1 };
    expect(await attempt('rollout', { run: 'keyless', out: mine(), row: ROW, settings })).toMatchObject({
      reason: 'none',
    });
    expect(sent.length).toBeGreaterThan(asked);
    expect(sent.slice(asked).join()).not.toMatch(/authorization|sk-own|hush/i);
  });

  test('reads no data set outside the allowed folders', async () => {
    symlinkSync(within('data', 'private.jsonl'), mine('linked.jsonl'));
    for (const dataset of [within('data', 'private.jsonl'), mine('linked.jsonl'), '/proc/self/environ', 'rows.jsonl']) {
      const { reason } = await attempt('collection', { run: 'read', out: mine(), dataset });
      expect(reason, dataset).toBe('not-allowed');
    }
    expect(existsSync(mine('read'))).toBe(false);
  });

  test('loads no model and no tokenizer that the operator did not name', async () => {
    const folder = join(import.meta.dirname, '../../models/tiny');
    for (const settings of [
      { model: `transformers:${folder}` },
      { model: 'transformers:someone/evil-model' },
      { tokenizer: folder },
      { model: `sglang:${url}`, tokenizer: '/etc' },
    ]) {
      const { reason } = await attempt('rollout', { run: 'models', out: mine(), row: ROW, settings });
      expect(reason, JSON.stringify(settings)).toBe('not-allowed');
    }
    expect(existsSync(mine('models'))).toBe(false);
  });

  test('gives no run weights from a folder that the operator did not name, and asks no server of its own choice', async () => {
    const settings = { model: `sglang:${url}` };
    const begun = await attempt('rollout', { run: 'fleet', out: mine(), row: ROW, settings });
    expect(begun.reason).not.toBe('not-allowed');
    const asked = sent.length;
    const weights = '/ckpt/step-1';
    for (const more of [{}, { apiKeyEnv: 'MY_SECRET' }, { out: within('stranger') }, { run: '../own' }]) {
      const { reason } = await attempt('updateWeights', { run: 'fleet', out: mine(), version: 1, weights, ...more });
      expect(['not-allowed', 'run-name'], JSON.stringify(more)).toContain(reason);
    }
    expect(sent).toHaveLength(asked);
  });
});
