// vLLM's and SGLang's own parsers in their virtual environments: answers in, calls out.

import { spawn, spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ToolSchema } from '../../../environments/tools/formats/format.ts';
import { TOOL_FAMILIES, type Meant } from '../../support/tool-families.ts';

export type PeerKind = 'vllm' | 'sglang';

const CACHE = process.env['EVERTURN_SERVERS_CACHE'] ?? join(homedir(), '.cache', 'everturn', 'servers');
const SERVERS = join(import.meta.dirname, '../../real/servers');

/** The parser of each template's family; null if the peer cannot read text alone. */
export const PARSERS: Readonly<Record<PeerKind, Readonly<Record<string, string | null>>>> = {
  vllm: {
    'qwen2.5': 'hermes',
    'qwen3-coder': 'qwen3_coder',
    'llama-3.1': 'llama3_json',
    'mistral-nemo': 'mistral',
    'ministral-3': 'mistral',
    'deepseek-v3': 'deepseek_v3',
    'deepseek-v3.1': 'deepseek_v31',
    'glm-4.5': 'glm45',
    'glm-4.7': 'glm47',
    // Its harmony parser reads ids of its own vocabulary, which it downloads.
    'gpt-oss': null,
  },
  sglang: {
    'qwen2.5': 'qwen25',
    'qwen3-coder': 'qwen3_coder',
    'llama-3.1': 'llama3',
    'mistral-nemo': 'mistral',
    'ministral-3': 'mistral',
    'deepseek-v3': 'deepseekv3',
    'deepseek-v3.1': 'deepseekv31',
    'glm-4.5': 'glm45',
    'glm-4.7': 'glm47',
    'gpt-oss': 'gpt-oss',
  },
};

export interface Asked {
  readonly family: string;
  readonly text: string;
  readonly tools: readonly ToolSchema[];
}

export interface PeerAnswer {
  readonly calls?: readonly Meant[];
  readonly error?: string;
}

export async function askPeer(
  kind: PeerKind,
  asked: readonly Asked[],
): Promise<{ readonly version: string; readonly answers: readonly PeerAnswer[] }> {
  const installed = spawnSync(join(SERVERS, 'install.sh'), [kind, CACHE], { stdio: 'inherit' });
  if (installed.status !== 0) throw new Error(`${kind} could not be installed into ${CACHE}`);
  const env = { ...process.env, HF_HUB_OFFLINE: '1', PYTHONPATH: join(SERVERS, 'stub') };
  const child = spawn(join(CACHE, kind, 'bin/python'), [join(import.meta.dirname, 'peers.py'), kind], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  for (const { family, text, tools } of asked) {
    const { special } = TOOL_FAMILIES[family]!;
    const tags = ['<tool_call>', '</tool_call>', '<think>', '</think>', '<|python_tag|>'];
    const functions = tools.map((tool) => ({ type: 'function', function: tool }));
    const line = { parser: PARSERS[kind][family], text, tools: functions, special: [...special, ...tags] };
    child.stdin.write(`${JSON.stringify(line)}\n`);
  }
  child.stdin.end();
  const lines: unknown[] = [];
  for await (const line of createInterface(child.stdout)) lines.push(JSON.parse(line));
  const [head, ...answers] = lines as [{ version: string }, ...PeerAnswer[]];
  if (answers.length !== asked.length) throw new Error(`${kind} answered ${answers.length} of ${asked.length}`);
  return { version: head.version, answers };
}
