// The built command line plays several models in one command: one table at the end, nothing begun where a model does not
// answer, and the cause of each run that failed.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Everturn, openSharedEverturn } from '../support/everturn.ts';
import { type HttpListener, listenHttp } from '../support/http-listener.ts';

const ROWS = 4;
const ANSWERS: Readonly<Record<string, string>> = { good: '\\boxed{42}', poor: '\\boxed{41}' };
let everturn: Everturn;
let server: HttpListener;
/** A question with it is refused. */
let refused = 'nothing';
beforeAll(async () => {
  server = await listenHttp(async (request, response) => {
    let text = '';
    for await (const part of request) text += String(part);
    const { model } = JSON.parse(text) as { readonly model: string };
    const content = ANSWERS[model];
    const status = content === undefined ? 404 : text.includes(refused) ? 401 : 200;
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
    const reply = { id: 'x', object: 'chat.completion', model, choices };
    response.writeHead(status).end(JSON.stringify(status === 200 ? reply : { error: { message: `no ${model}` } }));
  });
  everturn = openSharedEverturn();
  const rows = Array.from({ length: ROWS }, (_, i) => ({ id: `q${i}`, question: `What is 42? ${i}`, answer: '42' }));
  everturn.write('rows.jsonl', rows);
});
afterAll(async () => {
  await everturn.close();
  server.close();
});

function play(name: string, ...models: string[]) {
  const named = models.flatMap((model) => ['--model', `openai:${server.url}/v1#${model}`]);
  return everturn.call('run', 'rows.jsonl', '--name', name, '--num-turns', '1', ...named);
}

describe('several models in one command', { timeout: 300_000 }, () => {
  test('end in one table, with the accuracy of each and their difference', async () => {
    const { code, stdout, stderr } = await play('both', 'good', 'poor');
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^good +both-good +100\.0 %/m);
    expect(stdout).toMatch(/^poor +both-poor +0\.0 % .*−100\.0 points/m);
  });

  test('begin no run where one of them does not answer', async () => {
    const { code, stderr } = await play('misspelt', 'good', 'por');
    expect(code).toBe(5);
    expect(stderr).toContain('no por');
    expect(existsSync(join(everturn.folder, 'runs/misspelt-good'))).toBe(false);
  });

  test('say of each run why it failed', async () => {
    refused = `What is 42? ${ROWS - 1}`;
    const { code, stderr } = await play('refused', 'good', 'poor');
    expect(code).not.toBe(0);
    for (const model of ['good', 'poor']) expect(stderr).toMatch(new RegExp(`^everturn: ${model}: .*no ${model}`, 'm'));
  });
});
