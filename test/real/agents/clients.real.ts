// Real libraries against an agent's endpoint: their own loops extend the sampled ids, and a program that runs again gets its
// finished calls from the records. EVERTURN_TEST_AGENTS names a Python that has `openai` and `anthropic`.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { callContext, type PlayedCall } from '../../../domain/context/call-context.ts';
import { DIALECTS } from '../../../endpoint/dialects/index.ts';
import type { RecordedReply } from '../../../endpoint/agents.ts';
import { openEndpoint } from '../../endpoint/open-endpoint.ts';
import { recorded, replyOf, tokenizer } from '../../endpoint/recorded-agents.ts';

const { EVERTURN_TEST_AGENTS: PYTHON } = process.env;
const PROGRAM = join(import.meta.dirname, 'agent.py');
const REPLIES = recorded('openai-python');
const KEY = 'secret-of-the-test';
const WAYS = [
  ...['chat', 'chat, streamed', 'responses', 'responses, streamed', 'responses, chained'],
  ...['messages', 'messages, streamed'],
];

/** One process of the program, until `most` replies have come. Every wait shows signs of life. */
async function attempt(way: string, most: number, records: RecordedReply[], played: PlayedCall[]) {
  let asked = 0;
  const endpoint = await openEndpoint({
    key: KEY,
    model: 'tiny',
    recorded: [...records],
    onReward: () => undefined,
    maxCalls: 100,
    onCut: () => undefined,
    keepAliveMs: 20,
    async answer({ call: { id, hash, occurrence } }, request, dialect) {
      asked++;
      const { parent, branch, ids: contextIds } = await callContext(request, played, tokenizer, {});
      expect(branch).toBeNull();
      expect(parent).toBe(played.at(-1)?.id ?? null);
      const reply = replyOf(id, REPLIES[request.messages.filter(({ role }) => role === 'assistant').length]!);
      const message = DIALECTS.find(({ path }) => path === dialect)!.message(reply);
      played.push({
        id,
        request,
        reply: message,
        parent,
        contextIds,
        outputIds: [97, 256],
        finish: 'stop',
      });
      records.push({ hash, occurrence, request, dialect, reply });
      await new Promise((resolve) => setTimeout(resolve, 60));
      return reply;
    },
  });
  try {
    const env = { ...process.env, AGENT_KEY: KEY };
    const { stdout } = await promisify(execFile)(PYTHON!, [PROGRAM, endpoint.url, way, String(most)], { env });
    return { said: stdout.trim(), asked, abandoned: endpoint.abandoned() };
  } finally {
    await endpoint.close();
  }
}

describe('the libraries of OpenAI and Anthropic', () => {
  test.each(WAYS)('%s: a loop extends exactly, and goes on after its program ended in the middle', async (way) => {
    const [records, played]: [RecordedReply[], PlayedCall[]] = [[], []];
    expect(await attempt(way, 2, records, played)).toEqual({ said: '', asked: 2, abandoned: [] });
    const said = 'The answer is 42.';
    expect(await attempt(way, 9, records, played)).toEqual({ said, asked: 2, abandoned: [] });
    expect(await attempt(way, 9, records, played)).toEqual({ said, asked: 0, abandoned: [] });
  });
});
