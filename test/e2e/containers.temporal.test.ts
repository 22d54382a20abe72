// A task directory played to the reward of its tests, by the built command line: its agent, its worker and its tests are killed, and
// the reward and the samples are those of a calm run.

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canConfine } from '../../environments/processes/confine.ts';
import { jsonLines } from '../support/json-lines.ts';
import { commandOf, nodesWith, pidsWith } from '../support/processes.ts';
import { makeRoot } from '../support/root-folder.ts';
import { PLAIN_TASK, writeTasks } from '../support/task-folder.ts';
import { until } from '../support/until.ts';
import { type AgentRig, openAgentRig } from './agent-rig.ts';

const CALLS = 4;
/** Asks, and has each reply's number written down in its container. */
const AGENT = `import { execFileSync } from 'node:child_process';
const messages = [{ role: 'user', content: 'Begin.' }];
for (let i = 0; i < ${CALLS}; i++) {
  const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', { method: 'POST',
    headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY }, body: JSON.stringify({ messages }) });
  const { choices: [{ message }] } = await response.json();
  execFileSync(process.env.EVERTURN_EXEC, ['sh', '-c', 'echo ' + i + ' >> log'], { stdio: 'inherit' });
  messages.push(message, { role: 'user', content: 'Go on.' });
}
if (process.argv[2] === 'waits') setInterval(() => {}, 1000);
else console.log(JSON.stringify({ reward: 0 }));
`;
/** A line too many or too few is another reward. */
const TESTS = `#!/bin/sh
sleep 4
[ -z "$OPENAI_API_KEY" ] || exit 1
lines=0
while read -r line; do lines=$((lines + 1)); done < /app/log
echo "{\\"reward\\": $lines, \\"form\\": 1}" > /logs/verifier/reward.json
`;

let rig: AgentRig;
beforeAll(async () => {
  rig = await openAgentRig(1, 500);
  const { everturn } = rig;
  const broken = { ...PLAIN_TASK, 'task.toml': 'steps = [1]' };
  writeTasks(join(everturn.folder, 'tasks'), { one: { ...PLAIN_TASK, 'tests/test.sh': TESTS }, two: broken });
  makeRoot(join(everturn.folder, 'root'));
  everturn.write('agent.mjs', AGENT);
});
afterAll(() => rig.close());

function words(name: string, ...more: string[]): string[] {
  const [run = '', , ...rest] = rig.run(name, 'node agent.mjs', '--seed', '7', ...more);
  return [run, 'harbor:./tasks', ...rest, '--container', 'bwrap', '--container-root', './root'];
}

const asked = (name: string) => rig.asks().filter(({ key }) => key.startsWith(`${name}/`));

async function samplesOf(name: string) {
  const { stdout } = await rig.everturn.mustRun('export', name, '--format', 'rows');
  return jsonLines<Record<string, unknown>>(stdout).map(
    ({ query, prompt_ids, response_ids, response_mask, reward }) => ({
      ...{ query, prompt_ids, response_ids, response_mask, reward },
    }),
  );
}

describe.skipIf(!canConfine())('a task directory', () => {
  test(
    'has the reward of its tests, and the same one and the same samples when its agent, its worker and its tests are killed',
    { timeout: 600_000 },
    async () => {
      const { everturn } = rig;
      const calm = await everturn.mustRun(...words('calm'));
      expect(calm.stderr + calm.stdout).toContain('two/task.toml: steps');
      expect(await samplesOf('calm')).toMatchObject([{ query: 'one', reward: CALLS }]);

      const storm = everturn.start(...words('storm'));
      await until('it has asked twice', () => asked('storm').length >= 2 || undefined);
      for (const pid of nodesWith('agent.mjs')) process.kill(pid, 'SIGKILL');
      await until('it has asked three times', () => asked('storm').length >= 3 || undefined);
      process.kill(everturn.service()!.worker!.pid, 'SIGKILL');
      const tests = await until('its tests run', () => {
        const pids = pidsWith('/tests/test.sh').filter((pid) => /\bbwrap --unshare-user/.test(commandOf(pid)));
        return pids.length > 0 ? pids : undefined;
      });
      for (const pid of tests) process.kill(pid, 'SIGKILL');
      const ended = await storm.ended;
      expect(ended.code, ended.stderr).toBe(0);
      await everturn.mustCall('check', 'storm');
      expect(asked('storm').filter(({ known }) => known)).toEqual([]);
      expect(await samplesOf('storm')).toEqual(await samplesOf('calm'));
      expect(pidsWith('/tests/test.sh')).toEqual([]);
    },
  );

  test('has the reward of its tests for what its agent did before its time was over', async () => {
    const late = words('late', '--agent-timeout', '20').map((word) =>
      word === 'node agent.mjs' ? 'node agent.mjs waits' : word,
    );
    const { code, stderr } = await rig.everturn.run(...late);
    expect(code, stderr).toBe(0);
    expect(await samplesOf('late')).toMatchObject([{ query: 'one', reward: CALLS }]);
    await rig.everturn.mustCall('check', 'late');
  });

  test('is undecided, and no reward 0, where its tests write none; and is refused without a program or a root', async () => {
    const { everturn } = rig;
    const none = { ...PLAIN_TASK, 'tests/test.sh': '#!/bin/sh\necho out of plums\n' };
    writeTasks(join(everturn.folder, 'silent'), { none });
    const silent = words('silent').map((word) => (word === 'harbor:./tasks' ? 'harbor:./silent' : word));
    expect((await everturn.call(...silent)).stdout).toContain('1 undecided: no-reward-file (none)');
    await everturn.mustCall('check', 'silent');
    expect(await everturn.mustCall('show', 'silent', 'none')).toMatch(/undecided[\s\S]*no-reward-file/);
    const refused = await everturn.call(...words('rootless').slice(0, -2));
    expect(refused.stderr).toContain('--container-root');
    // A file is no folder of files.
    everturn.write('tasks/README.md', 'Tasks.');
    const shellless = await everturn.call(...words('shellless').slice(0, -1), './tasks');
    expect(shellless.stderr).toContain('--container-root ./tasks has no bin/sh');
    const other = await everturn.call('run', 'rows.jsonl', ...silent.slice(2));
    expect(other.stderr).toContain('harbor:<folder>');
  });
});
