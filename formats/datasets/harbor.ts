// A folder of task directories in Harbor's layout (harbor 0.26, task.toml 1.4): each is a row, whose id is the directory's name,
// whose question is its instruction.md, and whose `harbor` is what its container and its tests need (domain/agent/task.ts). What
// cannot be played as it is meant is a bad row, by file and field.

import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import {
  DEFAULT_BUILD_SECONDS,
  DEFAULT_VERIFIER_SECONDS,
  HARBOR_SCHEME,
  HARBOR_TASK,
  type HarborTask,
  MAX_VERIFIER_SECONDS,
} from '../../domain/agent/index.ts';
import { DatasetError } from '../../domain/errors/errors.ts';
import { isObject } from '../../domain/schema/fields.ts';
import { short } from '../../domain/text/foreign-text.ts';
import { folderDigest, OddFile } from '../../local/machine/folder-digest.ts';
import { readRegular } from '../../local/machine/regular-file.ts';
import { datasetOf, type NumberedRow } from './read-rows.ts';
import type { Dataset, DataSource } from './dataset.ts';
import { unreadable } from './json-line.ts';
import { failRow, kindText, RowError } from './row-fault.ts';
import type { RowReading } from './row.ts';

export const isHarborPlace = (named: string): boolean => named.startsWith(HARBOR_SCHEME);

/** `named`: `harbor:./tasks`. */
export function harborSource(named: string, cwd: string): DataSource {
  const folder = resolve(cwd, named.slice(HARBOR_SCHEME.length));
  return { path: `${HARBOR_SCHEME}${folder}`, files: [folder] };
}

export function harborDataset(path: string, reading: RowReading = {}, folders: string[] = []): Dataset {
  if (!reading.forProgram)
    throw new DatasetError(`${path} has tasks for an agent, and the run has none`, {
      reason: 'harbor-agent',
      fix: 'Name the command of its program with --agent (docs/containers.md).',
    });
  const emptyFix = 'Name the folder that holds the task directories.';
  return datasetOf({ path, files: folders, batches, mustBe: mustBeFolder, emptyFix }, reading);
}

async function mustBeFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch((error: unknown) => {
    throw unreadable(folder, error);
  });
  if (found.isDirectory()) return;
  throw new DatasetError(`${folder} is no folder`, { reason: 'dataset-format', fix: 'Name one of task directories.' });
}

/** The folder may be one task itself. */
async function* batches(folder: string): AsyncGenerator<NumberedRow[]> {
  const isTask = existsSync(join(folder, TASK));
  const names = (await readdir(folder)).filter((name) => !name.startsWith('.')).toSorted();
  let number = 0;
  for (const directory of isTask ? [folder] : names.map((name) => join(folder, name))) {
    if (!(await stat(directory)).isDirectory()) continue;
    yield [{ number: ++number, read: await readTask(directory) }];
  }
}

const TASK = 'task.toml';
const INSTRUCTION = 'instruction.md';
const MAX_BYTES = 1 << 20;

async function readTask(directory: string): Promise<NumberedRow['read']> {
  const name = basename(directory);
  try {
    const facts = factsOf(directory);
    const question = textOf(directory, INSTRUCTION);
    if (question.trim() === '') failRow(INSTRUCTION, 'is empty', 'Write what the agent is to do.');
    if (!existsSync(join(directory, 'tests', 'test.sh')))
      failRow('tests/test.sh', 'is missing', 'It writes the reward into /logs/verifier/reward.txt.');
    const task = { ...facts, name, sha256: await digestOf(directory) } satisfies HarborTask;
    if (!HARBOR_TASK[0](task)) failRow(TASK, 'cannot be recorded', 'Report it.');
    return { json: { id: name, question, harbor: task }, inexact: new Set() };
  } catch (error) {
    if (!(error instanceof RowError)) throw error;
    const { field, ...fault } = error.fault;
    return { fault: { ...fault, field: `${short(name, 80)}/${field ?? ''}` } };
  }
}

function textOf(directory: string, file: string): string {
  try {
    return readRegular(join(directory, file), MAX_BYTES);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const problem = isMissing ? 'is missing' : 'cannot be read';
    return failRow(file, problem, `A task is ${TASK}, ${INSTRUCTION}, environment/ and tests/.`);
  }
}

async function digestOf(directory: string): Promise<string> {
  try {
    return await folderDigest(directory);
  } catch (error) {
    if (error instanceof OddFile) failRow(error.message, 'is no plain file', 'Put a copy of what is meant there.');
    throw error;
  }
}

type Fields = Readonly<Record<string, unknown>>;

function parsed(directory: string): Fields {
  try {
    return parse(textOf(directory, TASK));
  } catch (error) {
    if (error instanceof TomlError) {
      const [said = ''] = error.message.replace(/^Invalid TOML document: /, '').split('\n');
      failRow(TASK, `is not TOML: line ${error.line}: ${short(said, 120)}`, 'Correct it.');
    }
    throw error;
  }
}

const failIn = (path: string, problem: string, fix: string): never => failRow(`${TASK}: ${path}`, problem, fix);

function tableIn(of: Fields, name: string): Fields {
  const value = of[name] ?? {};
  return isObject(value) && !(value instanceof Date)
    ? value
    : failIn(name, `is ${kindText(value)}`, `Write [${name}].`);
}

type Facts = Omit<HarborTask, 'name' | 'sha256'>;

function factsOf(directory: string): Facts {
  const all = parsed(directory);
  const [environment, agent, verifier] = ['environment', 'agent', 'verifier'].map((name) => tableIn(all, name)) as [
    Fields,
    Fields,
    Fields,
  ];
  mustBePlayable(directory, all, { environment, agent, verifier });
  const facts = {
    agent_timeout_sec: numberIn(agent, 'agent', 'timeout_sec'),
    verifier_timeout_sec:
      numberIn(verifier, 'verifier', 'timeout_sec', MAX_VERIFIER_SECONDS) ?? DEFAULT_VERIFIER_SECONDS,
    build_timeout_sec: numberIn(environment, 'environment', 'build_timeout_sec') ?? DEFAULT_BUILD_SECONDS,
    cpus: numberIn(environment, 'environment', 'cpus'),
    memory_mb: memoryOf(environment),
    network: networkOf(environment, agent, verifier),
    workdir: textIn(environment, 'environment', 'workdir') ?? workdirOf(directory),
    docker_image: textIn(environment, 'environment', 'docker_image'),
    agent_user: textIn(agent, 'agent', 'user'),
    verifier_user: textIn(verifier, 'verifier', 'user'),
    env: variablesIn(environment, 'environment'),
    verifier_env: variablesIn(verifier, 'verifier'),
  };
  // A record has no field without a value.
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as unknown as Facts;
}

interface Tables {
  readonly environment: Fields;
  readonly agent: Fields;
  readonly verifier: Fields;
}

const isAsked = (value: unknown): boolean =>
  value !== undefined && value !== 0 && !(Array.isArray(value) && value.length === 0);

function mustBePlayable(directory: string, all: Fields, { environment, agent, verifier }: Tables): void {
  const os = environment['os'] ?? 'linux';
  const mode = verifier['environment_mode'] ?? 'shared';
  const beyond: readonly (readonly [string, boolean])[] = [
    ['steps', isAsked(all['steps'])],
    ['environment.os', String(os).toLowerCase() !== 'linux'],
    ...['gpus', 'tpu', 'mcp_servers', 'skills_dir', 'healthcheck'].map(
      (field) => [`environment.${field}`, isAsked(environment[field])] as const,
    ),
    ['verifier.environment_mode', mode !== 'shared'],
    ['verifier.environment', isAsked(verifier['environment'])],
    ['verifier.collect', isAsked(verifier['collect'])],
    ...[environment, agent, verifier].map(
      (table, i) => [`${TABLES[i]}.network_mode`, table['network_mode'] === 'allowlist'] as const,
    ),
  ];
  const first = beyond.find(([, is]) => is);
  if (first) failIn(first[0], 'asks for what Everturn does not play', 'Leave the task out, or play it with Harbor.');
  const compose = ['docker-compose.yaml', 'docker-compose.yml'].find((file) =>
    existsSync(join(directory, 'environment', file)),
  );
  if (compose) failRow(`environment/${compose}`, 'asks for several containers', 'A task has one container here.');
  if (environment['docker_image'] === undefined && !existsSync(join(directory, 'environment')))
    failRow('environment', 'is missing, and there is no environment.docker_image', 'Give one of the two.');
}

const TABLES = ['environment', 'agent', 'verifier'] as const;

function numberIn(table: Fields, name: string, field: string, most = Number.MAX_SAFE_INTEGER): number | undefined {
  const value = table[field];
  if (value === undefined || (typeof value === 'number' && value > 0 && value <= most)) return value;
  const is = typeof value === 'number' ? String(value) : kindText(value);
  return failIn(`${name}.${field}`, `is ${is}`, `Give a number above 0${most < 1e9 ? `, up to ${most}` : ''}.`);
}

/** A user may be a number. */
function textIn(table: Fields, name: string, field: string): string | undefined {
  const value = table[field];
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  if (field === 'user' && Number.isInteger(value)) return String(value);
  return failIn(`${name}.${field}`, `is ${kindText(value)}`, 'Give a text that is not empty.');
}

/** `memory_mb`, or the older `memory = "2G"`. */
function memoryOf(environment: Fields): number | undefined {
  const { memory } = environment;
  const [, number, unit] = /^([\d.]+)([GMK])$/i.exec(String(memory ?? '')) ?? [];
  const given = numberIn(environment, 'environment', 'memory_mb');
  if (memory !== undefined && (unit === undefined || !(Number(number) > 0)))
    failIn('environment.memory', 'is no size', 'Give memory_mb, as in memory_mb = 2048.');
  const factor = { G: 1024, M: 1, K: 1 / 1024 }[(unit ?? 'M').toUpperCase() as 'G' | 'M' | 'K'];
  const megabytes = given ?? (memory === undefined ? undefined : Number(number) * factor);
  return megabytes === undefined ? undefined : Math.max(1, Math.floor(megabytes));
}

/** One for the agent and the tests. */
function networkOf(environment: Fields, agent: Fields, verifier: Fields): boolean {
  const whole = environment['network_mode'] ?? (environment['allow_internet'] === false ? 'no-network' : 'public');
  const other = [agent, verifier].findIndex((table) => (table['network_mode'] ?? whole) !== whole);
  if (other >= 0) failIn(`${TABLES[other + 1]}.network_mode`, 'differs from the environment', 'Give it once.');
  if (whole === 'public' || whole === 'no-network') return whole === 'public';
  return failIn('environment.network_mode', `is ${kindText(whole)}`, 'Give public or no-network.');
}

/** Harbor fills `${NAME}` from the variables of its own process. */
function variablesIn(table: Fields, name: string): Readonly<Record<string, string>> | undefined {
  const variables = tableIn(table, 'env');
  for (const [key, value] of Object.entries(variables)) {
    if (typeof value !== 'string' || !/^[A-Za-z_]\w*$/.test(key) || value.includes('\u0000'))
      failIn(`${name}.env.${short(key, 40)}`, `is ${kindText(value)}`, 'Give a name and a text.');
    else if (value.includes('${'))
      failIn(`${name}.env.${key}`, 'names a variable of the machine, which no task is given', 'Write its value.');
  }
  const entries = Object.entries(variables) as [string, string][];
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Of the last stage of its Dockerfile: a container made without that image begins there, too. */
function workdirOf(directory: string): string | undefined {
  const file = join(directory, 'environment', 'Dockerfile');
  if (!existsSync(file)) return undefined;
  const found = [...textOf(directory, 'environment/Dockerfile').matchAll(/^\s*WORKDIR\s+"?(\/[^\s"$]*)"?\s*$/gim)];
  return found.at(-1)?.[1];
}
