// Real agents with a tool, unmodified, as the programs of runs: each is killed while its second tool runs, and goes on. No
// finished call is asked for again. EVERTURN_TEST_AGENTS names a Python, EVERTURN_TEST_AGENTS_NODE a folder of packages; an
// agent that they lack is skipped.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Everturn, openEverturn } from '../support/everturn.ts';
import { scriptedVllm } from '../support/scripted-vllm.ts';
import { callText } from '../support/tool-chat.ts';

const { EVERTURN_TEST_AGENTS: PYTHON = 'python3', EVERTURN_TEST_AGENTS_NODE: PACKAGES = '' } = process.env;
const SAMPLES = 2;

interface Way {
  readonly command: string;
  readonly isThere: boolean;
  readonly replies: readonly string[];
  /** Calls of the samples of a rollout: one sample, where the agent repeats what it was told. */
  readonly samples?: readonly number[];
}

const SAID = '\nLet me “add”.\n\n';
const ADDS = [SAID + callText('add', { a: 1, b: 2 }), SAID + callText('add', { a: 3, b: 3 })];
const KILL = 'if [ "$EVERTURN_ATTEMPT" = 1 ]; then echo killed >>"$ENVIRONMENT_KILLS"; kill -9 $PPID; fi; echo 6';
const ofPython = (way: string, module: string, replies = [...ADDS, 'It is 6.'], more = {}): [string, Way] => [
  `${way} (Python)`,
  {
    command: `${PYTHON} ${join(import.meta.dirname, 'tools.py')} ${way}`,
    isThere: spawnSync(PYTHON, ['-c', `import ${module}`]).status === 0,
    replies,
    ...more,
  },
];
const ofNode = (way: string, name: string): [string, Way] => [
  `${way} (Node)`,
  {
    command: `node ${join(import.meta.dirname, 'tools.mjs')} ${way}`,
    isThere: existsSync(join(PACKAGES, 'node_modules', name)),
    replies: [...ADDS, 'It is 6.'],
  },
];
const ofShell = (way: string, name: string, replies: readonly string[], more = {}): [string, Way] => [
  way,
  {
    command: `sh ${join(import.meta.dirname, `${way}.sh`)}`,
    isThere: existsSync(join(PACKAGES, 'node_modules', name)),
    replies,
    ...more,
  },
];
const shell = (command: string) => SAID + callText('bash', { command });
const said = (name: string, given: object) => SAID + callText(name, given);

const WAYS: readonly [string, Way][] = [
  ofPython('langgraph', 'langgraph, langchain_openai'),
  ofPython('agents', 'agents'),
  // It writes its calls into the text, in a form of its own.
  ofPython('smolagents', 'smolagents', [...ADDS, callText('final_answer', { answer: '6' })], { samples: [1, 1, 1] }),
  ofPython('mini_swe_agent', 'minisweagent', [
    ...[shell('echo 3'), shell(KILL)],
    shell('echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && echo 6'),
  ]),
  ofNode('openai', 'openai'),
  ofNode('anthropic', '@anthropic-ai/sdk'),
  ofNode('ai_chat', '@ai-sdk/openai'),
  ofNode('ai_responses', '@ai-sdk/openai'),
  ofNode('ai_compatible', '@ai-sdk/openai-compatible'),
  ofShell('claude', '@anthropic-ai/claude-code', [
    ...['echo 3', KILL].map((command) => said('Bash', { command, description: 'Adds' })),
    'It is 6.',
  ]),
  // A random id stands in each result of its tools: a rerun goes on from its first call, and its second is left behind.
  ofShell('codex', '@openai/codex', [...['echo 3', KILL].map((cmd) => said('exec_command', { cmd })), 'It is 6.'], {
    samples: [2],
  }),
];

/** Each kill adds a line. */
const KILLS = join(mkdtempSync(join(tmpdir(), 'everturn-kills-')), 'kills');
const kills = () => (existsSync(KILLS) ? readFileSync(KILLS, 'utf8').split('\n').length - 1 : 0);

let everturn: Everturn;
beforeAll(() => {
  everturn = openEverturn({ ENVIRONMENT_PACKAGES: PACKAGES, ENVIRONMENT_KILLS: KILLS });
  writeFileSync(join(everturn.folder, 'rows.jsonl'), '{"id": "sum", "question": "Add them.", "answer": "6"}\n');
});
afterAll(async () => {
  await everturn.close();
  rmSync(dirname(KILLS), { recursive: true, force: true });
});

describe.each(WAYS)('%s', (way, { command, isThere, replies, samples = [replies.length] }) => {
  test.skipIf(!isThere)('goes on after it was killed, and no call of it is played twice', async () => {
    const { server, flags } = await scriptedVllm(replies);
    try {
      const name = way.replaceAll(/\W/g, '');
      const args = ['rows.jsonl', '--name', name, '--samples', String(SAMPLES), '--agent', command, ...flags];
      const before = kills();
      const ended = await everturn.run('run', ...args, '--recheck-every', '0');
      const why = ended.code === 0 ? '' : (await everturn.run('why', name)).stdout;
      expect(ended.code, why + ended.stderr).toBe(0);
      expect(kills() - before).toBe(SAMPLES);
      const asked = server.seen.filter(({ body }) => /_\d+_\d+-[0-9a-f]{8}$/.test(String(body['request_id'])));
      expect(asked).toHaveLength(SAMPLES * replies.length);
      const checked = await everturn.run('check', name);
      expect(checked.code, checked.stdout + checked.stderr).toBe(0);
      const { stdout } = await everturn.run('export', name, '--format', 'rows');
      const rows = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
      const calls = rows.map(({ turn_calls, turn_returns }) => [(turn_calls as unknown[]).length, turn_returns]);
      const right = (length: number) => [length, Array.from({ length }, () => 1)];
      expect(calls).toEqual(Array.from({ length: SAMPLES }, () => samples.map(right)).flat());
    } finally {
      await server.close();
    }
  });
});
