import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Row } from '../../../formats/datasets/dataset.ts';
import { harborSource } from '../../../formats/datasets/harbor.ts';
import { openDataset } from '../../../formats/datasets/index.ts';
import { badOf, rowsOf } from '../../contract/dataset.ts';
import { testFolder } from '../../support/scratch-folder.ts';
import { PLAIN_TASK, writeTasks } from '../../support/task-folder.ts';

const { 'task.toml': _, ...PLAIN } = PLAIN_TASK;

const tasks = (all: Parameters<typeof writeTasks>[1]): string => writeTasks(testFolder(), all);

const open = (folder: string) => openDataset(harborSource(`harbor:${folder}`, '/'), { forProgram: true });
const harborOf = (row: Row | undefined) => (row?.ok ? row.query.row?.['harbor'] : undefined);
const fieldOf = async (files: Readonly<Record<string, string>>) => {
  const rows = await rowsOf(open(tasks({ bad: { ...PLAIN, ...files }, fine: { ...PLAIN, 'task.toml': '' } })));
  return badOf(rows)[0]?.field;
};

describe('a folder of task directories', () => {
  test('is a row for each directory, in the order of their names: its instruction, its limits and its digest', async () => {
    const toml = `version = "1.0"
      [verifier]
      timeout_sec = 90.0 # seconds
      [agent]
      timeout_sec = 120
      user = 1000
      [environment]
      memory = "2G"
      cpus = 1.5
      allow_internet = false
      docker_image = "org/image:tag"
      [environment.env]
      MODE = "fast"`;
    const folder = tasks({ b: { ...PLAIN, 'task.toml': toml }, a: { ...PLAIN, 'task.toml': '' }, '.git': { x: '' } });
    const rows = await rowsOf(open(folder));
    expect(rows.map((row) => row.ok && row.query.queryId)).toEqual(['a', 'b']);
    expect(harborOf(rows[1])).toEqual({
      ...{ name: 'b', sha256: expect.stringMatching(/^[0-9a-f]{64}$/), agent_timeout_sec: 120 },
      ...{ verifier_timeout_sec: 90, build_timeout_sec: 600, cpus: 1.5, memory_mb: 2048, network: false },
      ...{ workdir: '/app', docker_image: 'org/image:tag', agent_user: '1000', env: { MODE: 'fast' } },
    });
    expect(rows[1]).toMatchObject({ query: { prompt: { messages: [{ content: 'Fix it.\n' }] }, solutions: [] } });
    // One task is a data set, too.
    expect((await rowsOf(open(join(folder, 'b')))).map(harborOf)).toEqual([harborOf(rows[1])]);
  });

  test('has another digest when a file changes, and the same one at another place', async () => {
    const digest = async (folder: string) => (harborOf((await rowsOf(open(folder)))[0]) as { sha256: string }).sha256;
    const folder = tasks({ a: { ...PLAIN, 'task.toml': '' } });
    const copy = testFolder();
    cpSync(folder, copy, { recursive: true });
    expect(await digest(copy)).toBe(await digest(folder));
    writeFileSync(join(copy, 'a', 'tests', 'test.sh'), 'exit 1\n');
    expect(await digest(copy)).not.toBe(await digest(folder));
  });

  test.each([
    [{ 'task.toml': 'steps = [{ name = "one" }]' }, 'bad/task.toml: steps'],
    [{ 'task.toml': '[verifier]\ntimeout_sec = 0' }, 'bad/task.toml: verifier.timeout_sec'],
    [{ 'task.toml': '[verifier.env]\nKEY = "${KEY}"' }, 'bad/task.toml: verifier.env.KEY'],
    [{ 'task.toml': '[environment]\ngpus = 1' }, 'bad/task.toml: environment.gpus'],
    [{ 'task.toml': '[environment]\nnetwork_mode = "allowlist"' }, 'bad/task.toml: environment.network_mode'],
    [{ 'task.toml': '[agent]\nnetwork_mode = "no-network"' }, 'bad/task.toml: agent.network_mode'],
    [{ 'task.toml': 'a = 1\n[agent' }, 'bad/task.toml'],
    [{ 'task.toml': '', 'instruction.md': ' ' }, 'bad/instruction.md'],
    [{ 'task.toml': '', 'environment/docker-compose.yaml': '' }, 'bad/environment/docker-compose.yaml'],
    [{}, 'bad/task.toml'],
  ])('refuses what it cannot play as it is meant, by file and field: %o', async (files, field) => {
    expect(await fieldOf(files)).toBe(field);
  });

  test('refuses a task with a link, whose target no digest would hold', async () => {
    const folder = tasks({ bad: { ...PLAIN, 'task.toml': '' }, fine: { ...PLAIN, 'task.toml': '' } });
    symlinkSync('/etc/passwd', join(folder, 'bad', 'tests', 'data'));
    expect(badOf(await rowsOf(open(folder)))[0]?.field).toBe('bad/tests/data');
  });

  test('says the line in which a task.toml is no TOML', async () => {
    const folder = tasks({ bad: { ...PLAIN, 'task.toml': 'a = 1\n[agent' }, fine: { ...PLAIN, 'task.toml': '' } });
    expect(badOf(await rowsOf(open(folder)))[0]?.problem).toMatch(/^is not TOML: line 2: (?!Invalid TOML)\S/);
  });

  test.each([
    ['environment = 2026-01-01', 'environment'],
    ['[environment]\nworkdir = 2026-01-01T00:00:00Z', 'environment.workdir'],
    ['[verifier.env]\nDAY = 2026-01-01', 'verifier.env.DAY'],
    ['[agent]\ntimeout_sec = 10:00:00', 'agent.timeout_sec'],
  ])('calls a date a date: %s', async (toml, place) => {
    const folder = tasks({ bad: { ...PLAIN, 'task.toml': toml }, fine: { ...PLAIN, 'task.toml': '' } });
    const [fault] = badOf(await rowsOf(open(folder)));
    expect(fault).toMatchObject({ field: `bad/task.toml: ${place}`, problem: 'is a date' });
  });

  test('takes the working directory of its Dockerfile where task.toml names none', async () => {
    const dockerfile = 'FROM a AS b\nWORKDIR /first\nFROM c\nworkdir /app\nRUN true\n';
    const rows = await rowsOf(open(tasks({ a: { ...PLAIN, 'task.toml': '', 'environment/Dockerfile': dockerfile } })));
    expect(harborOf(rows[0])).toMatchObject({ workdir: '/app' });
  });

  test('is refused without a program, and where there is none', async () => {
    const source = harborSource('harbor:/nowhere/at-all', '/');
    expect(() => openDataset(source)).toThrow(expect.objectContaining({ reason: 'harbor-agent' }));
    await expect(rowsOf(open('/nowhere/at-all'))).rejects.toMatchObject({ reason: 'dataset-missing' });
    await expect(rowsOf(open(testFolder()))).rejects.toMatchObject({ reason: 'dataset-empty' });
  });
});
