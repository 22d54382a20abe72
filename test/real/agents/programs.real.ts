// The examples, with the real libraries that they use, as the agents of runs of the models that ship: each has the samples of a
// calm run, ids and calls, also when its program is killed in mid-loop. EVERTURN_TEST_AGENTS names a Python,
// EVERTURN_TEST_AGENTS_NODE a folder of packages; those that they lack are skipped.

import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Everturn, openEverturn } from '../../support/everturn.ts';
import { commandOf, pidsWith } from '../../support/processes.ts';

const { EVERTURN_TEST_AGENTS: PYTHON = 'python3', EVERTURN_TEST_AGENTS_NODE: PACKAGES = '' } = process.env;
const EXAMPLES = join(import.meta.dirname, '../../../examples');
const DATA = join(EXAMPLES, 'arithmetic.jsonl');
const ROWS = 2;

interface Way {
  readonly command: string;
  readonly isThere: boolean;
  readonly model?: string;
  /** Calls of the samples of each rollout; undefined where the model's replies decide. */
  readonly samples?: readonly number[];
}

const hasPython = (modules: string) => spawnSync(PYTHON, ['-c', `import ${modules}`]).status === 0;
const ofExample = (file: string, modules: string, more = {}): [string, Way] => {
  const command = `${PYTHON} ${join(EXAMPLES, 'agents', file)}`;
  return [file, { command, isThere: hasPython(modules), ...more }];
};
/** A folder from which the packages are found. */
const FOLDER = mkdtempSync(join(tmpdir(), 'everturn-agents-'));

const WAYS: readonly [string, Way][] = [
  ofExample('vote.py', 'openai', { samples: [1, 1, 1] }),
  ofExample('graph.py', 'langgraph, langchain_openai'),
  ofExample('calculator.py', 'agents', { model: 'scripted' }),
  [
    'calculator.mjs',
    {
      command: `node ${join(FOLDER, 'calculator.mjs')}`,
      isThere: existsSync(join(PACKAGES, 'node_modules/@ai-sdk/openai-compatible')),
      model: 'scripted',
    },
  ],
];

let everturn: Everturn;
beforeAll(() => {
  everturn = openEverturn();
  copyFileSync(join(EXAMPLES, 'agents/calculator.mjs'), join(FOLDER, 'calculator.mjs'));
  symlinkSync(join(PACKAGES, 'node_modules'), join(FOLDER, 'node_modules'));
});
afterAll(async () => {
  await everturn.close();
  rmSync(FOLDER, { recursive: true, force: true });
});

/** True if there was one. */
function killAgent(command: string): boolean {
  const found = pidsWith(command).find((pid) => commandOf(pid).startsWith(`${command} `));
  if (found) process.kill(found, 'SIGKILL');
  return found !== undefined;
}

/** Calls in flight that have their record. */
function recorded(name: string): number {
  const folder = join(everturn.folder, 'runs', name, 'rollouts');
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { recursive: true }).filter((file) => /turn-\d+\.json$/.test(String(file))).length;
}

async function samplesOf(name: string) {
  const checked = await everturn.run('check', name);
  expect(checked.code, checked.stdout + checked.stderr).toBe(0);
  const { stdout } = await everturn.run('export', name, '--format', 'rows');
  const samples = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { query: string; response_ids: number[]; turn_calls: string[] });
  // Calls side by side become turns in any order; each has its own seed, by its id.
  return samples
    .map(({ query, response_ids, turn_calls }) => ({ query, response_ids, turn_calls }))
    .sort((a, b) => (`${a.query} ${a.turn_calls.join()}` < `${b.query} ${b.turn_calls.join()}` ? -1 : 1));
}

describe.each(WAYS)('a loop with %s', (way, { command, isThere, model = 'tiny', samples }) => {
  const play = (name: string) => [
    ...['run', DATA, '--name', name, '--limit', String(ROWS), '--agent', command, '--model', model, '--seed', '7'],
    ...['--max-concurrent', '1'],
  ];

  test.skipIf(!isThere)(
    'has the samples of a calm run when its programs are killed',
    { timeout: 300_000 },
    async () => {
      const name = way.replaceAll('.', '-');
      const calm = await everturn.run(...play(`${name}-calm`));
      expect(calm.code, calm.stderr).toBe(0);
      const going = everturn.start(...play(`${name}-killed`));
      let isOver = false;
      void going.ended.then(() => (isOver = true));
      let [kills, since] = [0, 0];
      while (!isOver && kills < 3) {
        const now = recorded(`${name}-killed`);
        if (now > since && killAgent(command)) kills++;
        since = now;
        await sleep(20);
      }
      const killed = await going.ended;
      expect(killed.code, killed.stderr).toBe(0);
      expect(kills).toBeGreaterThan(0);
      const [before, after] = [await samplesOf(`${name}-calm`), await samplesOf(`${name}-killed`)];
      const calls = before.map(({ turn_calls }) => turn_calls.length);
      if (samples) expect(calls).toEqual(Array.from({ length: ROWS }, () => samples).flat());
      expect(after).toEqual(before);
    },
  );
});
