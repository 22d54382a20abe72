// Real libraries, unmodified, as the agents of runs of the shipped model: each loop of three calls is one sample with exact
// ids, also when the program is killed in it. EVERTURN_TEST_AGENTS names a Python that has them; those that it lacks are skipped.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Everturn, openEverturn } from '../support/everturn.ts';

const { EVERTURN_TEST_AGENTS: PYTHON = 'python3' } = process.env;
const PROGRAM = join(import.meta.dirname, 'program.py');
const DATA = join(import.meta.dirname, '../../examples/arithmetic.jsonl');
const ROWS = 2;
/** The module of each way. */
const WAYS: Readonly<Record<string, string>> = {
  openai: 'openai',
  openai_stream: 'openai',
  responses: 'openai',
  anthropic: 'anthropic',
  langgraph: 'langgraph, langchain_openai',
  agents: 'agents',
  litellm: 'litellm',
};

let everturn: Everturn;
beforeAll(() => {
  everturn = openEverturn();
});
afterAll(() => everturn.close());

const has = (modules: string) => spawnSync(PYTHON, ['-c', `import ${modules}`]).status === 0;

function killAgent(way: string): boolean {
  const of = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    } catch {
      return '';
    }
  };
  const found = readdirSync('/proc').find((pid) => /^\d+$/.test(pid) && of(pid).endsWith(`${PROGRAM}\0${way}\0`));
  if (found) process.kill(Number(found), 'SIGKILL');
  return found !== undefined;
}

describe.each(Object.entries(WAYS))('a loop with %s', (way, modules) => {
  const play = (name: string) => [
    ...['run', DATA, '--name', name, '--limit', String(ROWS), '--agent', `${PYTHON} ${PROGRAM} ${way}`, '--seed', '7'],
  ];

  test.skipIf(!has(modules))(
    'is one sample a rollout, also when its programs are killed',
    { timeout: 300_000 },
    async () => {
      const calm = await everturn.run(...play(`${way}-calm`));
      expect(calm.code, calm.stderr).toBe(0);
      const going = everturn.start(...play(`${way}-killed`));
      let isOver = false;
      void going.ended.then(() => (isOver = true));
      for (let kills = 0; !isOver && kills < 3;) {
        await new Promise((resolve) => setTimeout(resolve, 1500));
        if (killAgent(way)) kills++;
      }
      const killed = await going.ended;
      expect(killed.code, killed.stderr).toBe(0);
      const rows = async (name: string) => {
        const checked = await everturn.run('check', name);
        expect(checked.code, checked.stdout + checked.stderr).toBe(0);
        const { stdout } = await everturn.run('export', name, '--format', 'rows');
        return stdout
          .trim()
          .split('\n')
          .map((line) => {
            const { response_ids, turn_calls, branches } = JSON.parse(line) as Readonly<Record<string, unknown>>;
            return { response_ids, turn_calls, branches };
          });
      };
      const [before, after] = [await rows(`${way}-calm`), await rows(`${way}-killed`)];
      expect(before.map(({ branches, turn_calls }) => [branches, (turn_calls as unknown[]).length])).toEqual(
        Array.from({ length: ROWS }, () => [1, 3]),
      );
      expect(after).toEqual(before);
    },
  );
});
