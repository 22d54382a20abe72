// The built command line plays tools with a model behind chat completions: the endpoint gives the calls apart from its text,
// and wants their results by its own ids. Its worker is killed in mid-call.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Everturn, openEverturn } from '../support/everturn.ts';
import { type HttpListener, listenHttp } from '../support/http-listener.ts';
import { type ScriptedChat, scriptedChat } from '../support/scripted-chat.ts';

const SHOP = join(import.meta.dirname, '../../examples/tools/shop.ts');
const ROWS = 4;
let everturn: Everturn;
let shop: HttpListener;
let chat: ScriptedChat;
const orders: string[] = [];
beforeAll(async () => {
  shop = await listenHttp((request, response) => {
    orders.push(String(request.headers['idempotency-key']));
    setTimeout(() => response.end('ok'), 500);
  });
  everturn = openEverturn({ ENVIRONMENT_SHOP: shop.url });
  const call = (name: string, given: unknown) => ({ name, arguments: JSON.stringify(given) });
  chat = await scriptedChat(
    [
      { content: 'Let me see.', calls: [call('price', { fruit: 'plum' }), { name: 'price', arguments: '{"fruit": ' }] },
      { reasoning_content: 'Two then.', calls: [call('order', { fruit: 'plum', count: 2 }), call('nothing', {})] },
      { content: 'All in all \\boxed{14}.' },
    ],
    300,
  );
  const rows = Array.from({ length: ROWS }, (_, i) => ({ id: `q${i}`, question: `How much? ${i}`, answer: '14' }));
  everturn.write('rows.jsonl', rows);
});
afterAll(async () => {
  await everturn.close();
  chat.close();
  shop.close();
});

describe('tools with a model behind chat completions', () => {
  test('are called by its own ids, once each though the worker is killed, and are proved and shown', async () => {
    const run = everturn.start(
      ...['run', 'rows.jsonl', '--name', 'chat', '--num-turns', '1', '--tool', SHOP, '--model', chat.model],
      ...['--max-concurrent', '2'],
    );
    let isOver = false;
    void run.ended.then(() => (isOver = true));
    while (chat.asked.length < 2 && !isOver) await sleep(20);
    process.kill(everturn.service()!.worker!.pid, 'SIGKILL');
    const ended = await run.ended;
    expect(ended.code, ended.stderr).toBe(0);
    expect(orders.toSorted()).toEqual(Array.from({ length: ROWS }, (_, i) => `chat/q${i}/0/1/2/1`));
    await everturn.mustCall('check', 'chat');
    const shown = await everturn.mustCall('show', 'chat', 'q0');
    expect(shown).toContain('call 1 · price {"fruit":"plum"} → 5  (ok, pure, ');
    expect(shown).toMatch(/call 2 · price.*→ .*JSON/);
    expect(shown).toContain('There is no tool "nothing".');
    expect(shown).toContain('Two then.');
  }, 300_000);

  test('of an agent’s program come back in the dialect in which it asks', async () => {
    everturn.write(
      'agent.mjs',
      `const tools = [{ type: 'function', function: { name: 'price', description: 'A price.',
        parameters: { type: 'object', properties: { fruit: { type: 'string' } } } } }];
      const messages = [{ role: 'user', content: 'How much?' }];
      for (;;) {
        const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', { method: 'POST',
          headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
          body: JSON.stringify({ messages, tools }) });
        const { choices: [{ message, finish_reason }] } = await response.json();
        messages.push(message);
        if (finish_reason !== 'tool_calls') break;
        for (const { id } of message.tool_calls) messages.push({ role: 'tool', tool_call_id: id, content: '5' });
      }`,
    );
    const before = chat.asked.length;
    const args = ['--name', 'agent', '--agent', 'node agent.mjs', '--model', chat.model, '--limit', '1'];
    await everturn.mustRun('run', 'rows.jsonl', ...args);
    expect(chat.asked.length - before).toBe(3);
    expect(await everturn.mustCall('check', 'agent', '--json')).toContain('"turns":3,');
    const why = await everturn.mustCall('why', 'agent', 'q0');
    expect(why).toContain('calls: 3 in 1 branch');
    expect(why).toContain('the program’s answer: right');
  }, 300_000);
});
