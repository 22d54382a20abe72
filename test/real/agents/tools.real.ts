// Real agents with a tool, unmodified, as the programs of runs: each is killed while its second tool runs, goes on, and ends as
// one that nothing disturbed. EVERTURN_TEST_AGENTS names a Python, EVERTURN_TEST_AGENTS_NODE a folder of packages; an agent
// that they lack is skipped.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Everturn, openEverturn } from '../../support/everturn.ts';
import { scriptedVllm } from '../../support/scripted-vllm.ts';
import { callText } from '../../support/tool-chat.ts';

const { EVERTURN_TEST_AGENTS: PYTHON = 'python3', EVERTURN_TEST_AGENTS_NODE: PACKAGES = '' } = process.env;
const BIN = join(PACKAGES, 'node_modules/.bin');
const EXAMPLES = join(import.meta.dirname, '../../../examples/agents');

interface Way {
  readonly command: string;
  readonly isThere: boolean;
  readonly replies: readonly string[];
  /** Calls of the samples of a rollout: one sample, where the agent repeats what it was told. */
  readonly samples?: readonly number[];
  /** The same of one that was killed. */
  readonly killed?: readonly number[];
  /** Its requests name its folder: no two rollouts have the same. */
  readonly namesFolder?: true;
}

const SAID = '\nLet me “add”.\n\n';
const said = (name: string, given: object) => SAID + callText(name, given);
/** Two calls in one reply, then the one in which the program dies. */
const ADDS = [`${said('add', { a: 1, b: 2 })}\n${callText('add', { a: 4, b: 5 })}`, said('add', { a: 3, b: 3 })];
const DIES = 'if [ "$EVERTURN_ATTEMPT" = 1 ] && grep -q killed "$EVERTURN_ROW"';
const KILL = `${DIES}; then echo killed >>"$ENVIRONMENT_KILLS"; kill -9 $PPID; fi; echo 6`;
const code = (line: string) => `Let me “add”.\n<code>\n${line}\n</code>`;

const hasPython = (modules: string) => spawnSync(PYTHON, ['-c', `import ${modules}`]).status === 0;
const ofPython = (way: string, modules: string, replies = [...ADDS, 'It is 6.'], more = {}): [string, Way] => {
  const command = `${PYTHON} ${join(import.meta.dirname, 'tools.py')} ${way}`;
  return [`${way} (Python)`, { command, isThere: hasPython(modules), replies, ...more }];
};
const ofNode = (way: string, name: string): [string, Way] => {
  const command = `node ${join(import.meta.dirname, 'tools.mjs')} ${way}`;
  const isThere = existsSync(join(PACKAGES, 'node_modules', name));
  return [`${way} (Node)`, { command, isThere, replies: [...ADDS, 'It is 6.'] }];
};

const WAYS: readonly [string, Way][] = [
  ofPython('openai', 'openai, pydantic'),
  ofPython('anthropic', 'anthropic'),
  ofPython('litellm', 'litellm'),
  ofPython('langgraph', 'langgraph, langchain_openai'),
  ofPython('langgraph_anthropic', 'langgraph, langchain_anthropic'),
  ofPython('agents', 'agents'),
  ofPython('pydantic_ai', 'pydantic_ai, openai'),
  ofPython('pydantic_ai_responses', 'pydantic_ai, openai'),
  ofPython('pydantic_ai_anthropic', 'pydantic_ai, anthropic'),
  // It writes its calls into the text, in a form of its own.
  ofPython('smolagents', 'smolagents', [...ADDS, callText('final_answer', { answer: '6' })], { samples: [1, 1, 1] }),
  ofPython('smolagents_code', 'smolagents', ['add(1, 2)', 'add(3, 3)', 'final_answer("6")'].map(code)),
  ofNode('openai', 'openai'),
  ofNode('anthropic', '@anthropic-ai/sdk'),
  ofNode('langgraph', '@langchain/langgraph'),
  ofNode('agents_chat', '@openai/agents'),
  ofNode('agents_responses', '@openai/agents'),
  ofNode('ai_chat', '@ai-sdk/openai'),
  ofNode('ai_responses', '@ai-sdk/openai'),
  ofNode('ai_stream', '@ai-sdk/openai'),
  ofNode('ai_anthropic', '@ai-sdk/anthropic'),
  ofNode('ai_compatible', '@ai-sdk/openai-compatible'),
  [
    'mini_swe.py',
    {
      command: `${PYTHON} ${join(EXAMPLES, 'mini_swe.py')}`,
      isThere: hasPython('minisweagent'),
      replies: ['echo 3', KILL, 'echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && echo 6'].map((command) =>
        said('bash', { command }),
      ),
    },
  ],
  [
    'claude.sh',
    {
      command: `sh ${join(EXAMPLES, 'claude.sh')}`,
      isThere: existsSync(join(BIN, 'claude')),
      replies: [...['echo 3', KILL].map((command) => said('Bash', { command, description: 'Adds' })), 'It is 6.'],
      namesFolder: true,
    },
  ],
  [
    'codex.sh',
    {
      command: `sh ${join(EXAMPLES, 'codex.sh')}`,
      isThere: existsSync(join(BIN, 'codex')),
      replies: [...['echo 3', KILL].map((cmd) => said('exec_command', { cmd })), 'It is 6.'],
      // A random id stands in each result of its tools: a rerun goes on from its first call, and its second is left behind.
      killed: [2],
      namesFolder: true,
    },
  ],
];

/** Each kill adds a line. */
const KILLS = join(mkdtempSync(join(tmpdir(), 'everturn-kills-')), 'kills');
const kills = () => (existsSync(KILLS) ? readFileSync(KILLS, 'utf8').split('\n').length - 1 : 0);

let everturn: Everturn;
beforeAll(() => {
  const PATH = `${BIN}:${process.env['PATH']}`;
  everturn = openEverturn({ PATH, ENVIRONMENT_PACKAGES: PACKAGES, ENVIRONMENT_KILLS: KILLS });
  const rows = ['calm', 'killed'].map((id) => ({ id, question: 'Add 3 and 3.', answer: '6' }));
  writeFileSync(join(everturn.folder, 'rows.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'));
});
afterAll(async () => {
  await everturn.close();
  rmSync(dirname(KILLS), { recursive: true, force: true });
});

interface Sample {
  readonly query: string;
  readonly prompt_ids: readonly number[];
  readonly response_ids: readonly number[];
  readonly response_mask: readonly number[];
  readonly turn_calls: readonly string[];
  readonly turn_returns: readonly number[];
}

async function samplesOf(name: string): Promise<(query: string) => readonly Sample[]> {
  const { stdout } = await everturn.run('export', name, '--format', 'rows');
  const all = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Sample);
  return (query) => all.filter((one) => one.query === query);
}

const callsOf = (samples: readonly Sample[]) => samples.map(({ turn_calls }) => turn_calls.length);
const tokensOf = (samples: readonly Sample[]) =>
  samples.map(({ prompt_ids, response_ids, response_mask, turn_calls }) => [
    ...[prompt_ids, response_ids, response_mask, turn_calls],
  ]);

describe.each(WAYS)('%s', (way, { command, isThere, replies, samples = [replies.length], killed, namesFolder }) => {
  test.skipIf(!isThere)('ends as a calm one after it was killed, and no call of it is played twice', async () => {
    const { server, flags } = await scriptedVllm(replies);
    try {
      const name = way.replaceAll(/\W/g, '');
      const before = kills();
      const ended = await everturn.run('run', 'rows.jsonl', '--name', name, '--agent', command, ...flags);
      const why = ended.code === 0 ? '' : (await everturn.run('why', name)).stdout;
      expect(ended.code, why + ended.stderr).toBe(0);
      expect(kills() - before).toBe(1);
      const asked = server.seen.filter(({ body }) => /_\d+_\d+-[0-9a-f]{8}$/.test(String(body['request_id'])));
      expect(asked).toHaveLength(2 * replies.length);
      const checked = await everturn.run('check', name);
      expect(checked.code, checked.stdout + checked.stderr).toBe(0);
      const of = await samplesOf(name);
      expect(callsOf(of('calm'))).toEqual(samples);
      expect(callsOf(of('killed'))).toEqual(killed ?? samples);
      if (!namesFolder) expect(tokensOf(of('killed'))).toEqual(tokensOf(of('calm')));
      const returns = [...of('calm'), ...of('killed')].flatMap(({ turn_returns }) => turn_returns);
      expect(new Set(returns)).toEqual(new Set([1]));
    } finally {
      await server.close();
    }
  });
});
