// Real libraries that ask for a typed answer, as their users write them by default, as the programs of runs: each gets it, by the
// system text, and by a server that holds the reply to the schema, which then makes no sample. EVERTURN_TEST_AGENTS names a
// Python, EVERTURN_TEST_AGENTS_NODE a folder of packages; an agent that they lack is skipped.

import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Everturn, openEverturn } from '../../support/everturn.ts';
import { scriptedVllm } from '../../support/scripted-vllm.ts';
import { callText } from '../../support/tool-chat.ts';

const { EVERTURN_TEST_AGENTS: PYTHON = 'python3', EVERTURN_TEST_AGENTS_NODE: PACKAGES = '' } = process.env;

interface Way {
  readonly command: string;
  readonly isThere: boolean;
  readonly replies: readonly string[];
  /** Its schema is in its requests, without tools beside it: a server can hold the reply to it. */
  readonly isHeld?: true;
}

const SUM = '{"sum": 6}';
const ADDS = callText('add', { a: 3, b: 3 });
const LOOP = [ADDS, SUM];
const hasPython = (modules: string) => spawnSync(PYTHON, ['-c', `import ${modules}`]).status === 0;
const ofPython = (way: string, modules: string, replies: readonly string[] = LOOP): [string, Way] => {
  const command = `${PYTHON} ${join(import.meta.dirname, 'structured.py')} ${way}`;
  const isAlone = replies.length === 1;
  return [`${way} (Python)`, { command, isThere: hasPython(modules), replies, ...(isAlone && { isHeld: true }) }];
};
const ofNode = (way: string, name: string, replies: readonly string[] = LOOP): [string, Way] => {
  const command = `node ${join(import.meta.dirname, 'structured.mjs')} ${way}`;
  return [`${way} (Node)`, { command, isThere: existsSync(join(PACKAGES, 'node_modules', name)), replies }];
};

const WAYS: readonly [string, Way][] = [
  ofPython('openai_chat', 'openai, pydantic', [SUM]),
  ofPython('openai_responses', 'openai, pydantic', [SUM]),
  ofPython('anthropic', 'anthropic, pydantic', [SUM]),
  ofPython('litellm', 'litellm', [SUM]),
  ofPython('langchain', 'langchain_openai', [SUM]),
  ofPython('langchain_agent', 'langchain.agents, langchain_openai'),
  ofPython('langchain_tool', 'langchain.agents, langchain_openai', [ADDS, callText('Sum', { sum: 6 })]),
  ofPython('agents', 'agents'),
  ofPython('agents_chat', 'agents'),
  ofPython('pydantic_ai', 'pydantic_ai, openai'),
  ofPython('pydantic_ai_tool', 'pydantic_ai, openai', [ADDS, callText('final_result', { sum: 6 })]),
  ofNode('agents', '@openai/agents'),
  ofNode('ai_chat', '@ai-sdk/openai'),
  ofNode('ai_responses', '@ai-sdk/openai'),
  ofNode('ai_anthropic', '@ai-sdk/anthropic', [ADDS, callText('json', { sum: 6 })]),
  ofNode('ai_compatible', '@ai-sdk/openai-compatible'),
];

let everturn: Everturn;
beforeAll(() => {
  everturn = openEverturn({ ENVIRONMENT_PACKAGES: PACKAGES });
  const row = { id: 'one', question: 'Add 3 and 3.', answer: '6' };
  writeFileSync(join(everturn.folder, 'rows.jsonl'), JSON.stringify(row));
});
afterAll(() => everturn.close());

interface Sample {
  readonly response_mask: readonly number[];
  readonly turn_calls: readonly string[];
  readonly turn_returns: readonly number[];
}

async function play(name: string, { command, replies }: Way, mode: string) {
  const { server, flags } = await scriptedVllm(replies);
  try {
    const more = ['--structured', mode, ...flags];
    const ended = await everturn.run('run', 'rows.jsonl', '--name', name, '--agent', command, ...more);
    const why = ended.code === 0 ? '' : (await everturn.run('why', name)).stdout;
    expect(ended.code, why + ended.stderr).toBe(0);
    const checked = await everturn.run('check', name);
    expect(checked.code, checked.stdout + checked.stderr).toBe(0);
    const { stdout } = await everturn.run('export', name, '--format', 'rows');
    const lines = stdout.trim();
    const samples = lines === '' ? [] : lines.split('\n').map((line) => JSON.parse(line) as Sample);
    const asked = server.seen.filter(({ body }) => /_\d+_\d+-[0-9a-f]{8}$/.test(String(body['request_id'])));
    const forms = asked.flatMap(({ body }) => {
      const { structured_outputs: form } = body['sampling_params'] as { structured_outputs?: object };
      return form ? [form] : [];
    });
    return { samples, forms };
  } finally {
    await server.close();
  }
}

describe.each(WAYS)('%s', (way, one) => {
  const name = way.replaceAll(/\W/g, '');

  test.skipIf(!one.isThere)('gets its typed answer by the system text, in one sample of the policy', async () => {
    const { samples, forms } = await play(name, one, 'prompt');
    expect(samples.map(({ turn_calls }) => turn_calls.length)).toEqual([one.replies.length]);
    expect(samples[0]!.turn_returns).toEqual(one.replies.map(() => 1));
    expect(samples[0]!.response_mask).toContain(1);
    expect(forms).toEqual([]);
  });

  test.skipIf(!one.isThere || !one.isHeld)(
    'gets it from a server that holds the reply to its schema, and makes no sample of it',
    async () => {
      const { samples, forms } = await play(`${name}-held`, one, 'constrain');
      expect(forms).toEqual([{ json: expect.objectContaining({ required: ['sum'] }) as object }]);
      expect(samples).toEqual([]);
    },
  );
});
