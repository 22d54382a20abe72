// Example environments of others, as they ship, in runs of the built command line: OpenEnv's `openenv init` and
// grid_world_env behind its own server, reverse_text of verifiers, both by the adapters in examples/. What they must give is worked
// out here. EVERTURN_OPENENV and EVERTURN_VERIFIERS name a Python that has them; PYTHONPATH, the folders of their examples.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { freePort } from '../../../local/machine/ports.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { readTrajectories } from '../../../records/reading/trajectories.ts';
import { type Everturn, openEverturn } from '../../support/everturn.ts';
import { type ScriptedVllm, scriptedVllm } from '../../support/scripted-vllm.ts';
import { until } from '../../support/until.ts';

const { EVERTURN_OPENENV: OPENENV, EVERTURN_VERIFIERS: VERIFIERS } = process.env;
const OPENENV_ADAPTER = join(import.meta.dirname, '../../../examples/environments/openenv.mjs');
const ADAPTER = join(import.meta.dirname, '../../../examples/environments/verifiers_env.py');
/** Imports of such a package take half a minute on a busy machine. */
const LONG = { timeout: 600_000 };
const has = (python: string, module: string) =>
  spawnSync(python, ['-c', `import importlib.util as u, sys; sys.exit(u.find_spec("${module}") is None)`]).status === 0;

let everturn: Everturn;
const models: ScriptedVllm[] = [];
const servers: ChildProcess[] = [];
beforeEach(() => {
  everturn = openEverturn();
});
afterEach(async () => {
  await everturn.close();
  for (const { server } of models.splice(0)) await server.close();
  for (const server of servers.splice(0)) server.kill('SIGKILL');
});

async function modelThatSays(replies: readonly string[]): Promise<ScriptedVllm> {
  const model = await scriptedVllm(replies);
  models.push(model);
  return model;
}

/** An OpenEnv server as its makers start it. */
async function served(app: string, cwd: string): Promise<string> {
  const port = await freePort([]);
  const child = spawn(OPENENV!, ['-m', 'uvicorn', app, '--host', '127.0.0.1', '--port', `${port}`], {
    cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  servers.push(child);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const url = `http://127.0.0.1:${port}`;
  const answers = () =>
    fetch(`${url}/schema`).then(
      ({ ok }) => ok,
      () => false,
    );
  const ended = () => {
    if (child.exitCode !== null) throw new Error(`${app} ended: ${errors.slice(-2_000)}`);
    return false;
  };
  await until(`the server of ${app} answers`, async () => (await answers()) || ended(), 300_000);
  return url;
}

const writeRows = (rows: readonly object[]) =>
  writeFileSync(join(everturn.folder, 'rows.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'));

interface Seen {
  readonly outcome: string;
  readonly rewards: readonly (number | undefined)[];
  readonly shown: readonly string[];
}

async function play(environment: string, flags: readonly string[]): Promise<Map<string, Seen>> {
  const ended = await everturn.run(
    ...['run', 'rows.jsonl', '--name', 'others', '--environment', environment],
    // A scripted model gives no answer again.
    ...['--recheck-every', '0', ...flags],
  );
  expect(ended.code, ended.stderr).toBe(0);
  const checked = await everturn.run('check', 'others', '--json');
  expect(checked.code, checked.stdout + checked.stderr).toBe(0);
  const seen = new Map<string, Seen>();
  for await (const { rollout, turns, end } of readTrajectories(
    openFileStore(join(everturn.folder, 'runs'), 'others'),
  )) {
    const rewards = turns.map(({ verdict }) => verdict?.reward);
    const shown = turns.flatMap(({ verdict }) => (verdict?.messages ?? []).map(({ content }) => content));
    seen.set(rollout.query.queryId, { outcome: end?.stopReason ?? end?.failure?.reason ?? 'open', rewards, shown });
  }
  return seen;
}

describe('OpenEnv', () => {
  test('its grid world is walked to the goal, by each rollout in a session of its own', LONG, async (context) => {
    if (OPENENV === undefined) return context.skip('EVERTURN_OPENENV names no Python that has openenv');
    if (!has(OPENENV, 'grid_world_env')) return context.skip('PYTHONPATH has no grid_world_env (envs/ of OpenEnv)');
    const url = await served('grid_world_env.server.app:app', everturn.folder);
    const says = ['Down.', 'I go DOWN', 'sideways', '{"action": "DOWN"}', 'down', 'RIGHT', 'right', 'Right!', 'right'];
    const model = await modelThatSays(says);
    writeRows(['a', 'b', 'c'].map((id) => ({ id })));
    const seen = await play(`node ${OPENENV_ADAPTER} ${url}`, ['--num-turns', '12', ...model.flags]);
    expect(seen.size).toBe(3);
    for (const { outcome, rewards, shown } of seen.values()) {
      // A step costs 0.1, the goal gives 1; what is no direction is no step.
      expect(rewards).toEqual(says.map((said, i) => (said === 'sideways' ? 0 : i === says.length - 1 ? 1 : -0.1)));
      expect(outcome).toBe('done');
      expect(shown[0]).toContain('"x":1');
      expect(shown[2]).toContain('Reply with one of: UP, DOWN, LEFT, RIGHT.');
    }
  });

  test(
    'what `openenv init` writes is played, with more rollouts than its server has sessions',
    LONG,
    async (context) => {
      if (OPENENV === undefined) return context.skip('EVERTURN_OPENENV names no Python that has openenv');
      execFileSync(join(dirname(OPENENV), 'openenv'), ['init', 'probe_env'], { cwd: everturn.folder, stdio: 'ignore' });
      const app = readFileSync(join(everturn.folder, 'probe_env/server/app.py'), 'utf8');
      expect(app).toContain('max_concurrent_envs=1');
      const url = await served('probe_env.server.app:app', everturn.folder);
      const says = ['Hi.', 'four', 'A longer sentence than ten letters.'];
      const model = await modelThatSays(says);
      writeRows(['a', 'b', 'c', 'd'].map((id) => ({ id, question: 'Say something.' })));
      const flags = ['--num-turns', '3', '--max-concurrent', '2', ...model.flags];
      const seen = await play(`node ${OPENENV_ADAPTER} ${url}`, flags);
      expect(seen.size).toBe(4);
      for (const { rewards, shown } of seen.values()) {
        // Its template gives a tenth of a point for each letter; older ones give 1 at most.
        expect(rewards.map((reward) => Math.min(reward ?? NaN, 1))).toEqual(
          says.map((said) => Math.min(said.length * 0.1, 1)),
        );
        expect(shown[1]).toContain('four');
      }
      expect(await everturn.run('export', 'others', '--format', 'areal')).toMatchObject({ code: 0 });
    },
  );
});

describe('verifiers', () => {
  test('its reverse_text judges the answers of a run by its own reward', LONG, async (context) => {
    if (VERIFIERS === undefined) return context.skip('EVERTURN_VERIFIERS names no Python that has verifiers');
    if (!has(VERIFIERS, 'reverse_text'))
      return context.skip('PYTHONPATH has no reverse_text (environments/ of verifiers)');
    // Its rows come from a hub; here from a file of that name.
    const stub = join(everturn.folder, 'stub');
    execFileSync('mkdir', [stub]);
    const texts = ['abc', 'never odd or cb', 'grüße'];
    writeFileSync(
      join(stub, 'datasets.py'),
      `def load_dataset(*_, **__):\n    return [{"prompt": text} for text in ${JSON.stringify(texts)}]\n`,
    );
    const paths = [stub, ...(process.env['PYTHONPATH'] ?? '').split(':')].join(':');
    const rows = execFileSync(VERIFIERS, [ADAPTER, 'reverse_text', '--rows', '3'], {
      env: { ...process.env, PYTHONPATH: paths },
      encoding: 'utf8',
    });
    writeFileSync(join(everturn.folder, 'rows.jsonl'), rows);
    const model = await modelThatSays(['<reversed_text>cb</reversed_text>']);
    const seen = await play(`${VERIFIERS} ${ADAPTER} reverse_text`, model.flags);
    // 2 M / T of difflib: M letters of all T match, in order.
    expect([...seen].map(([query, { outcome, rewards }]) => [query, outcome, ...rewards])).toEqual([
      ['reverse_text-0', 'done', 4 / 5],
      ['reverse_text-1', 'done', 2 / 17],
      ['reverse_text-2', 'done', 0],
    ]);
  });
});
