// Containers of task directories: by bubblewrap in full, on files of this machine; by docker and podman with a program in their
// place that writes down its arguments.

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ContainerRecord } from '../../domain/agent/program.ts';
import type { AgentEnded } from '../../endpoint/agents.ts';
import { openContainer, type OpenContainer } from '../../endpoint/containers/open.ts';
import { canConfine } from '../../environments/processes/confine.ts';
import { harborSource } from '../../formats/datasets/harbor.ts';
import { openDataset } from '../../formats/datasets/index.ts';
import { goodOf, rowsOf } from '../contract/dataset.ts';
import { makeRoot } from '../support/root-folder.ts';
import { scratchFolder, testFolder } from '../support/scratch-folder.ts';
import { PLAIN_TASK, writeTasks } from '../support/task-folder.ts';

const ENDED: AgentEnded = { code: 0, said: { answer: 'done', reward: 7 }, tail: '', last: 'call', abandoned: [] };
const files = scratchFolder();
let root: string;
beforeAll(() => {
  root = makeRoot(join(files, 'root'));
});

async function opened(
  container: Omit<ContainerRecord, 'tasks'>,
  task: Readonly<Record<string, string>>,
  change?: (tasks: string) => void,
): Promise<OpenContainer> {
  const tasks = writeTasks(testFolder(), { one: { ...PLAIN_TASK, ...task } });
  const [query] = goodOf(await rowsOf(openDataset(harborSource(`harbor:${tasks}`, '/'), { forProgram: true })));
  change?.(tasks);
  return openContainer({
    container: { ...container, tasks },
    row: query!.row!,
    folder: join(testFolder(), 'container'),
    key: 'run/one/0/1',
    signal: new AbortController().signal,
  });
}

const run = ({ exec }: OpenContainer, script: string): string =>
  execFileSync(exec, ['sh', '-c', script], { encoding: 'utf8', env: { ...process.env, OPENAI_API_KEY: 'secret' } });

describe.skipIf(!canConfine())('a container by bubblewrap', () => {
  const reward = (text: string, file = 'reward.txt') => ({
    'tests/test.sh': `#!/bin/sh\nprintf '%s' '${text}' > /logs/verifier/${file}\n`,
  });
  const open = (task: Readonly<Record<string, string>>) => opened({ by: 'bwrap', root }, task);

  test('keeps what commands write, shows them no file, variable, process or network of the machine, and goes', async () => {
    const toml = '[environment]\nnetwork_mode = "public"\n[environment.env]\nMODE = "it\'s"';
    const container = await open({ 'task.toml': toml });
    expect(run(container, 'touch here; id -u; echo $HOME $MODE $OPENAI_API_KEY')).toBe("0\n/root it's\n");
    expect(run(container, 'ls /app; ls /home /var 2>&1 || true; cat /proc/[0-9]*/environ 2>&1 || true')).not.toMatch(
      /secret|EVERTURN/,
    );
    expect(run(container, 'ls /app')).toBe('here\n');
    expect(run(container, 'cat /proc/self/net/dev').match(/\w+:/g)).toEqual(['lo:']);
    await container.remove();
  });

  test('has the reward of its tests, which are there only after the end, in place of the agent’s own', async () => {
    const container = await open({
      'tests/test.sh': '#!/bin/sh\n[ "$KEY" = one ] && cat /tests/data /app/answer > /logs/verifier/reward.txt',
      'tests/data': '0.',
      'task.toml': '[verifier.env]\nKEY = "one"',
    });
    expect(run(container, 'ls /tests 2>&1 || true; printf 25 > answer; echo $KEY')).not.toMatch(/data|one$/);
    expect(await container.verified(ENDED)).toEqual({ ...ENDED, said: { answer: 'done', reward: 0.25 }, verified: {} });
  });

  test.each([
    ['{"reward": 0.5, "style": 1}', { reward: 0.5, rewards: { style: 1 } }],
    ['{"passed": 1}', { reward: 1 }],
    ['0.75', { reward: 0.75 }],
  ])('reads reward.json: %s', async (text, said) => {
    const { said: read } = await (await open(reward(text, 'reward.json'))).verified(ENDED);
    expect(read).toEqual({ answer: 'done', ...said });
  });

  test.each([
    ['no-reward-file', { 'tests/test.sh': '#!/bin/sh\necho out of plums\nexit 3\n' }, /exit code 3.*out of plums/s],
    ['no-reward-file', { 'tests/test.sh': '#!/bin/sh\nmkdir /logs/verifier/reward.txt\n' }, /exit code 0/],
    ['bad-reward-file', reward('NaN'), /no number/],
    ['bad-reward-file', reward(''), /is empty/],
    [
      'bad-reward-file',
      {
        'tests/test.sh': '#!/bin/sh\ncat /tests/data > /logs/verifier/reward.txt\n',
        'tests/data': '1'.repeat(3_000_000),
      },
      /larger than 1 MiB/,
    ],
    [
      'bad-reward-file',
      reward('{"reward": 0, "reward": 1}', 'reward.json'),
      /has the key "reward" twice in one object/,
    ],
    ['bad-reward-file', reward('{"a": 1, "b": 2}', 'reward.json'), /has no "reward" beside its numbers/],
    [
      'verifier-timeout',
      {
        'tests/test.sh': '#!/bin/sh\necho 1 > /logs/verifier/reward.txt; sleep 100\n',
        'task.toml': '[verifier]\ntimeout_sec = 0.5',
      },
      /did not end/,
    ],
  ])('leaves a rollout undecided, never 0: %s', async (reason, task, note) => {
    const { said, verified } = await (await open(task)).verified(ENDED);
    expect(said).toEqual({ answer: 'done' });
    expect(verified).toEqual({ undecided: reason, note: expect.stringMatching(note) });
  });

  test('leads its tests nowhere by links that the agent left, and finds no reward that it left', async () => {
    const container = await open({ 'tests/test.sh': '#!/bin/sh\ntouch /tests/was-here\n' });
    const outside = testFolder();
    run(container, `rm -rf /logs /tests; ln -s ${outside} /logs; ln -s ${outside} /tests`);
    expect((await container.verified(ENDED)).verified?.undecided).toBe('no-reward-file');
    const left = await open({});
    run(left, 'echo 1 > /logs/verifier/reward.txt');
    expect((await left.verified(ENDED)).verified?.undecided).toBe('no-reward-file');
    expect(existsSync(join(outside, 'was-here'))).toBe(false);
  });

  test('is undecided where the agent left nothing that could run the tests', async () => {
    const container = await open(reward('1'));
    run(container, 'rm -rf /bin');
    expect((await container.verified(ENDED)).verified?.undecided).toBe('verifier-not-run');
  });

  test('asks no tests about an agent that failed', async () => {
    const ended = { ...ENDED, code: 1 };
    expect(await (await open(reward('1'))).verified(ended)).toEqual(ended);
  });

  test('is not made of a directory that has changed, nor for a user by name', async () => {
    const change = (tasks: string) => writeFileSync(join(tasks, 'one', 'tests', 'more'), '');
    await expect(opened({ by: 'bwrap', root }, {}, change)).rejects.toMatchObject({ reason: 'agent-changed' });
    const named = { 'task.toml': '[agent]\nuser = "someone"' };
    await expect(open(named)).rejects.toMatchObject({ reason: 'container-failed' });
  });
});

describe('a container by docker or podman', () => {
  const path = process.env['PATH'];
  afterEach(() => {
    process.env['PATH'] = path;
  });
  /** `docker`, which answers as it does and writes down what it was asked. */
  function standIn(): () => string[] {
    const bin = join(testFolder(), 'bin');
    const log = join(bin, 'log');
    mkdirSync(bin);
    writeFileSync(
      join(bin, 'docker'),
      `#!/bin/sh
echo "$*" >> '${log}'
case "$1 $2" in
  'build --quiet') echo sha256:built ;;
  'image inspect') [ -e '${bin}/pulled' ] && echo sha256:pulled ;;
  pull*) touch '${bin}/pulled' ;;
  'create --name') echo the-id ;;
  exec*) case "$*" in *reward.json*) exit 1 ;; *reward.txt*) echo 1 ;; esac ;;
esac
`,
    );
    chmodSync(join(bin, 'docker'), 0o700);
    process.env['PATH'] = `${bin}:${path}`;
    return () => readFileSync(log, 'utf8').trim().split('\n');
  }

  test('is created of its image’s digest with the task’s limits, after what an earlier attempt left is removed', async () => {
    const log = standIn();
    const toml = `[agent]\nuser = "dev"\n[verifier]\nuser = "root"\n[verifier.env]\nA = "b"\n[environment]
      docker_image = "org/image:1"\ncpus = 2\nmemory_mb = 512\nnetwork_mode = "no-network"\nenv = { MODE = "x" }`;
    const container = await opened({ by: 'docker' }, { 'task.toml': toml });
    run(container, 'true');
    const ended = await container.verified(ENDED);
    await container.remove();
    expect(ended).toMatchObject({ said: { reward: 1 }, verified: { image: 'sha256:pulled' } });
    const [name] = /everturn-\w+/.exec(log().join(' '))!;
    expect(log()).toEqual([
      'image inspect --format {{.Id}} org/image:1',
      'pull --quiet org/image:1',
      'image inspect --format {{.Id}} org/image:1',
      `rm -f ${name}`,
      `create --name ${name} --label everturn=run/one/0/1 --entrypoint /bin/sh --network none --cpus 2 --memory 512m --env MODE=x sha256:pulled -c while :; do sleep 3600; done`,
      'start the-id',
      expect.stringMatching(
        /^exec -i --user 0 --workdir \/ the-id sh -c mkdir -p \/logs\/agent .* && mkdir -p '\/app'$/,
      ),
      'exec -i --user dev --workdir /app the-id sh -c true',
      expect.stringMatching(/^exec -i --user 0 --workdir \/ the-id sh -c for one in/),
      ...log().slice(9, 10),
      expect.stringMatching(/^cp \S+\/one\/tests\/\. the-id:\/tests$/),
      expect.stringMatching(/^exec -i --user root --workdir \/app --env A=b the-id sh -c chmod \+x \/tests\/test\.sh;/),
      'exec -i --user root --workdir / --env A=b the-id sh -c [ -f /logs/verifier/reward.json ] && cat /logs/verifier/reward.json',
      'exec -i --user root --workdir / --env A=b the-id sh -c [ -f /logs/verifier/reward.txt ] && cat /logs/verifier/reward.txt',
      'rm -f --volumes the-id',
    ]);
  });

  test('is built from its Dockerfile once, however many rollouts begin', async () => {
    const log = standIn();
    const task = { 'instruction.md': 'Built once.\n' };
    for (const _ of [1, 2]) await opened({ by: 'docker' }, task);
    expect(log().filter((line) => line.startsWith('build'))).toHaveLength(1);
    expect(log().filter((line) => line.includes('sha256:built'))).toHaveLength(2);
  });
});
