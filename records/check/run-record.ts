// Proves run.json against itself: values that were said to be defaults, a name and a seed that follow from data and
// settings, versions that can have written it, and a model and logprobs that the settings allow. Not covered: values that
// leave no trace elsewhere in the folder and were said to be given (docs/check.md lists them).

import { isDeepStrictEqual } from 'node:util';
import { AGENTS } from '../../domain/rollout/agent.ts';
import { ALL_DEFAULTS, SETTINGS } from '../../domain/run/settings.ts';
import { DEMO_DEFAULTS, seedOfRun } from '../../domain/run/defaults.ts';
import { logprobsServe } from '../../domain/rollout/logprob-meaning.ts';
import { derivedRunName, isDerivedName } from '../../domain/run/run-name.ts';
import type { ToolSettings } from '../../domain/tools/tool.ts';
import { groupParts, type Origin, type RunRecord } from '../format/run-record.ts';
import { originOf, serversOf } from './servers.ts';
import { AHEAD_MS } from './times.ts';

/** Options of a run that are no settings of its rollouts. */
const BESIDE = [
  'agent',
  'environment',
  'tool',
  'mcp',
  'toolFormat',
  'maxToolCalls',
  'toolOutputBytes',
  'toolTimeoutSeconds',
  'samples',
  'epochs',
  'train',
  'batchGroups',
  'maxStaleness',
  'minMembers',
  'successRate',
  'dropZeroVariance',
  'maxConcurrent',
  'limit',
  'system',
  'prompt',
  'shuffleSeed',
  'maxFailed',
];
const OLDEST_NODE = 20;

/** `everturn`: the version that checks. */
export function runRecordProblems(run: RunRecord, everturn: string | undefined): string[] {
  return [
    ...originProblems(run),
    ...nameProblems(run),
    ...versionProblems(run, everturn),
    ...datasetProblems(run),
    ...logprobProblems(run),
  ];
}

function originProblems({ run, settings, origins, samples, dataset, agent }: RunRecord): string[] {
  const problems: string[] = [];
  const known = [...Object.keys(SETTINGS), 'seed', ...BESIDE];
  for (const key of Object.keys(origins).filter((each) => !known.includes(each)))
    problems.push(`names the origin of ${JSON.stringify(key)}, which is no option`);
  const said = new Set(Object.values(origins));
  if (said.has('input') && [...said].some((origin) => !['input', 'default'].includes(origin)))
    problems.push('says that its settings came from a command and from a workflow');
  const demo: Readonly<Record<string, unknown>> = DEMO_DEFAULTS;
  const defaults: Readonly<Record<string, unknown>> = { ...ALL_DEFAULTS, seed: seedOfRun(run) };
  for (const [key, value] of Object.entries(settings)) {
    // A run of rollouts that clients start one by one takes its settings from the first of them.
    const origin = originOfSetting(origins, key);
    if (origin === 'agent') problems.push(...agentProblem(agent, key, value));
    if (dataset === null || origin !== 'default') continue;
    if ([defaults[key], demo[key]].some((one) => one !== undefined && isDeepStrictEqual(one, value))) continue;
    const right = JSON.stringify(defaults[key]);
    problems.push(
      key === 'seed'
        ? `says the seed ${settings.seed} was left out; that of the run's name is ${right}`
        : `says that ${key} ${JSON.stringify(value)} is the default, which is ${right}`,
    );
  }
  if (origins['samples'] === 'default' && samples !== 1) problems.push(`says that ${samples} samples are the default`);
  return problems;
}

/** A value that the run's agent is said to preset. One that a user's environment brought is known to it alone. */
function agentProblem(agent: RunRecord['agent'], key: string, value: unknown): string[] {
  if (!agent) return [`says that an agent preset ${key}, and names none`];
  const preset: Readonly<Record<string, unknown>> | undefined = AGENTS.find(
    ({ name }) => name === agent.name,
  )?.settings;
  if (!preset || isDeepStrictEqual(preset[key], value)) return [];
  const said = `${JSON.stringify(preset[key]) ?? 'none'} to ${key}`;
  return [`says that ${key} ${JSON.stringify(value)} is of the agent ${agent.name}, which gives ${said}`];
}

function originOfSetting(origins: RunRecord['origins'], key: string): Origin {
  if (key === 'environments') return origins['environment'] ?? 'default';
  if (key !== 'tools') return origins[key] ?? 'default';
  return ['tool', 'mcp'].map((name) => origins[name] ?? 'default').find((origin) => origin !== 'default') ?? 'default';
}

const givenTools = ({ list, maxCalls, outputBytes }: ToolSettings, format: string): ToolSettings => ({
  format,
  list,
  maxCalls,
  outputBytes,
});

function nameProblems(record: RunRecord): string[] {
  const { run, settings, origins, samples, dataset, forkedFrom } = record;
  // A fork has the name that its data set would give it only by chance.
  if (forkedFrom || !dataset || Object.values(origins).includes('input') || !isDerivedName(run, dataset.path))
    return [];
  const { seed, ...named } = settings;
  const { tools } = named;
  // The format that a model's own template shows does not decide the name.
  const open = tools && (origins['toolFormat'] ?? 'default') === 'default';
  const rest = tools ? { ...named, tools: givenTools(tools, open ? '' : tools.format) } : named;
  const given = (origins['seed'] ?? 'default') === 'default' ? rest : { ...rest, seed };
  const offered = dataset.offered ?? dataset.sha256;
  const right = derivedRunName(dataset.path, offered, given, samples, groupParts(record));
  return run === right ? [] : [`has a name that other data or settings give; these give ${right}`];
}

function versionProblems({ versions, createdAt }: RunRecord, everturn: string | undefined): string[] {
  const problems: string[] = [];
  const [written, here] = [numbersOf(versions.everturn), numbersOf(everturn ?? '')];
  if (!written) problems.push(`names the version ${JSON.stringify(versions.everturn)} of Everturn, which there is not`);
  else if (here && isLater(written, here))
    problems.push(`was made by Everturn ${versions.everturn}; ${everturn} checks it, and knows no later records`);
  const node = versions.node.startsWith('v') ? numbersOf(versions.node.slice(1)) : null;
  if (!node || node[0]! < OLDEST_NODE)
    problems.push(`names the version ${JSON.stringify(versions.node)} of Node, on which Everturn does not run`);
  if (createdAt > Date.now() + AHEAD_MS) problems.push(`was made at ${createdAt}, a time still to come`);
  return problems;
}

function numbersOf(version: string): number[] | null {
  const [, ...numbers] = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:[-+].*)?$/.exec(version) ?? [];
  return numbers.length === 3 ? numbers.map(Number) : null;
}

function isLater(a: readonly number[], b: readonly number[]): boolean {
  const at = a.findIndex((number, i) => number !== b[i]);
  return at >= 0 && a[at]! > b[at]!;
}

function datasetProblems({ dataset, samples }: RunRecord): string[] {
  if (!dataset) return samples === 1 ? [] : [`says ${samples} samples of a data set that there is not`];
  const { offered, sha256, refused } = dataset;
  if (offered !== undefined && (offered === sha256 || refused === 0))
    return ['says that rows were offered beside those that were accepted, and that none was refused'];
  return [];
}

function logprobProblems({ logprobs, settings }: RunRecord): string[] {
  if (!logprobs) return [];
  const { meaning, servers } = logprobs;
  const of = serversOf(settings.model);
  if (of === null)
    return meaning === 'policy' && servers === undefined ? [] : [`says ${meaning} logprobs of a model that runs here`];
  const problems: string[] = [];
  const kinds = new Set(Object.values(servers ?? {}));
  if (kinds.size > 0 && meaning !== (kinds.size > 1 ? 'mixed' : [...kinds][0]))
    problems.push(`says ${meaning} logprobs, and its servers give ${[...kinds].join(' and ')} ones`);
  const known = of.map(originOf);
  for (const url of Object.keys(servers ?? {}).filter((each) => !known.includes(originOf(each))))
    problems.push(`says which logprobs ${url} gives, which is none of ${settings.model}`);
  if (settings.model.startsWith('openai:')) {
    if (meaning !== 'unknown') problems.push(`says ${meaning} logprobs of a server that gives text only`);
  } else if (!logprobsServe(meaning, settings.logprobs, settings, 0))
    problems.push(`says ${meaning} logprobs, which cannot serve its settings`);
  return problems;
}
