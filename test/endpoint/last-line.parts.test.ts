// The last line of an agent's program, as its bytes are.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AgentAttempt, AgentEnded } from '../../endpoint/agents.ts';
import { createAgents } from '../../endpoint/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'everturn-last-line-'));

/** The end of a program that prints this, as printf has it. */
async function ended(printed: string): Promise<AgentEnded> {
  const program = {
    spec: ['sh', '-c', `printf '${printed}'`],
    fingerprint: 'f'.repeat(64),
    timeoutSeconds: 60,
    maxCalls: 9,
  };
  const attempt: AgentAttempt = {
    ...{
      id: { run: 'r', query: 'q', sample: 0, attempt: 1 },
      attempt: 1,
      token: 'a'.repeat(32),
      record: 'e'.repeat(64),
    },
    ...{ program, row: {}, seed: 7, model: 'tiny', recorded: [] },
    mustBeLast: async () => undefined,
    answer: () => Promise.reject(new Error('none is made')),
    count: async () => null,
    signal: new AbortController().signal,
  };
  const host = { play: () => Promise.reject(new Error('it is no function')) };
  const agents = createAgents({ folder, host, permitted: () => program.spec, log: () => undefined });
  return agents.play(attempt, folder);
}

describe('the last line of a program', () => {
  test.each([
    ['{"answer": "caf\\351"}', 'has bytes that are no UTF-8'],
    ['{"reward": 1, "rewards": {"\\377": 1}}', 'has bytes that are no UTF-8'],
    // Half of a character, a character written too long, half of a pair.
    ['{"answer": "\\303"}', 'has bytes that are no UTF-8'],
    ['{"answer": "\\300\\257"}', 'has bytes that are no UTF-8'],
    ['{"answer": "\\355\\240\\200"}', 'has bytes that are no UTF-8'],
    ['{"answer": "1", "answer": "2"}', 'has the key "answer" twice in one object'],
  ])('%s fails its rollout by its cause', async (printed, problem) => {
    const message = expect.stringMatching(`The last line of the agent .* ${problem}`) as string;
    await expect(ended(printed)).rejects.toMatchObject({ reason: 'agent-broken', message });
  });

  test.each([
    ['{"answer": "caf\\303\\251"}', { answer: 'café' }],
    ['{"answer": "\\360\\235\\225\\217"}\\n\\n', { answer: '𝕏' }],
    // A log of another encoding, and lines before the last one.
    ['done: \\351', {}],
    ['{"answer": "caf\\351"}\\n{"answer": "42"}', { answer: '42' }],
  ])('%s is taken as it is', async (printed, said) => {
    expect(await ended(printed)).toMatchObject({ code: 0, said });
  });
});
