// The agent that `--agent` or `--serve-agent` names, checked and described for the run's settings: the words of its command
// with the identity of its files, or the bundled code of a function.

import { readFile } from 'node:fs/promises';
import { basename, isAbsolute } from 'node:path';
import { containerOf, mustBeStarted, mustHaveContainer } from './container.ts';
import { type AgentCode, bundleAgent } from '../client/temporal/agent-bundle.ts';
import {
  type ContainerRecord,
  FUNCTION,
  parseSideModel,
  type ProgramRecord,
  SESSION,
  type SideModel,
  type Structured,
} from '../domain/agent/index.ts';
import { serverUrl } from '../inference/http/server-url.ts';
import { constrainedBy } from '../inference/index.ts';
import { isFunctionModel } from '../domain/rollout/settings.ts';
import { packageRoot } from '../local/machine/package-root.ts';
import { short } from '../domain/text/foreign-text.ts';
import { commandIdentity } from '../environments/processes/launch.ts';
import { parseSpec } from '../environments/own/spec.ts';
import { isProgram as isOnPath } from '../environments/tools/describe.ts';
import { isAsked, type ResolvedOptions } from './config.ts';
import { PROGRAM_FIELDS, type RunOptions } from './options.ts';
import { flagOf, unusable } from '../domain/errors/unusable.ts';

/** From 22.18 on. */
const RUNS_TYPESCRIPT = Boolean((process.features as { readonly typescript?: unknown }).typescript);

/** The words of the command `--agent` or `--serve-agent`: a module of JavaScript or TypeScript is run by Node. */
export function programWords(text: string, cwd: string, flag = '--agent'): readonly string[] {
  const { door, words } = parseSpec(text, cwd, flag);
  const refused = (problem: string, fix: string) =>
    unusable(`${flag} ${JSON.stringify(short(text, 200))} ${problem}.`, fix);
  const [program = ''] = words;
  if (door === 'module' && program.endsWith('ts') && !RUNS_TYPESCRIPT)
    throw refused(
      'is TypeScript, which this Node does not run',
      `Give the command that does, as in "npx tsx ${text}"; or export an agent of everturn/agent (docs/agents.md).`,
    );
  if (door === 'command' && !program.includes('/') && !isOnPath(program))
    throw refused(`names ${program}, which is no program of the PATH`, 'Give the path of the program, or install it.');
  // The file that an interpreter runs is the first word with an ending; it became an absolute path if it is there.
  const script = words.slice(1).find((word) => !word.startsWith('-'));
  if (script !== undefined && /\.(?:py|[cm]?[jt]s)$/.test(script) && !isAbsolute(script))
    throw refused(`names ${script}, which is no file here`, 'Give its path from this folder.');
  return door === 'module' ? [process.execPath, ...words] : words;
}

/** The options as they hold with the agent's program: as they were given where the agent is a preset, or there is none. */
export async function describeProgram(
  resolved: ResolvedOptions,
  cwd: string,
  dataset?: string,
): Promise<DescribedProgram> {
  const { agent } = resolved.options;
  const container = containerOf(resolved.options, cwd, dataset);
  if (agent === SESSION[0]) return withProgram(resolved, SESSION, commandIdentity(SESSION), container);
  if (agent === null || !isProgram(agent)) {
    const given = Object.keys(PROGRAM_FIELDS).find((key) => isAsked(resolved.origins[key as keyof RunOptions]));
    if (given === undefined) return { resolved };
    throw unusable(
      `${flagOf(given)} is for the program of an agent, and this run has none.`,
      `Name the program with --agent, or leave ${flagOf(given)} out.`,
    );
  }
  const { door, words } = parseSpec(agent, cwd, '--agent');
  const [file = ''] = words;
  if (door === 'module' && OF_FUNCTION.test(await readFile(file, 'utf8'))) {
    const code = await bundleAgent(file, packageRoot());
    return { ...withProgram(resolved, [FUNCTION, basename(file)], code.sha256, container), code };
  }
  mustHaveContainer(resolved, dataset);
  const command = programWords(agent, cwd);
  return withProgram(resolved, command, commandIdentity(command), container);
}

interface DescribedProgram {
  readonly resolved: ResolvedOptions;
  readonly program?: ProgramRecord;
  /** That of a function. */
  readonly code?: AgentCode;
}

/** A module that imports `everturn/agent`. */
const OF_FUNCTION = /from\s*['"]everturn\/agent['"]/;

/** A preset has a name of one word; a command has a blank, or names a file. */
const isProgram = (agent: string): boolean => /[\s/]/.test(agent.trim()) || /\.\w+$/.test(agent.trim());

function structuredIn({ structured, model }: RunOptions): Structured {
  const constrained = constrainedBy(model);
  if (structured !== 'constrain') return structured ?? (constrained === 'pass' ? constrained : 'prompt');
  if (constrained) return constrained;
  const fix = 'Leave it out: the system text then says the form (prompt).';
  throw unusable(`--structured constrain needs a server, and ${short(model, 80)} is none.`, fix);
}

function sideModelsIn({ sideModel, sideApiKeyEnv: apiKeyEnv }: RunOptions): readonly SideModel[] {
  const models = sideModel.map((text) => parseSideModel(text, serverUrl));
  if (apiKeyEnv === null) return models;
  const { size } = new Set(models.map(({ url }) => new URL(url).origin));
  if (size === 1) return models.map((one) => ({ ...one, apiKeyEnv }));
  const servers = size === 0 ? 'there is no --side-model' : `the side models are at ${size} servers`;
  throw unusable(`--side-api-key-env is the key of one server, and ${servers}.`, 'Name those of one server.');
}

/** The options of a run whose agent is a program: it decides by itself how often it asks, and has one answer. */
function withProgram(
  resolved: ResolvedOptions,
  spec: readonly string[],
  fingerprint: string,
  container: ContainerRecord | undefined,
): DescribedProgram {
  const { options, origins } = resolved;
  const { agentTimeout: timeoutSeconds, maxCalls, onDivergence, trainCalls } = options;
  const structured = structuredIn(options);
  const given = (['numTurns', 'stop', 'feedback'] as const).find((key) => isAsked(origins[key]));
  const sideModels = sideModelsIn(options);
  const foreign = given ?? (['tool', 'mcp'] as const).find((key) => options[key].length > 0);
  if (foreign !== undefined) {
    const title = `The agent ${short(spec.join(' '), 80)} decides its turns and calls its tools itself`;
    throw unusable(`${title}, and ${flagOf(foreign)} is given.`, 'Leave it out: the program says it in its requests.');
  }
  if (isFunctionModel(options.model))
    throw unusable(
      `The agent ${short(spec.join(' '), 80)} asks its model within a worker, and this run's model is a function of its program.`,
      'Name a model of a server or an embedded one, or call the function in the agent itself.',
    );
  if (container) mustBeStarted(spec);
  const program: ProgramRecord = {
    ...{ spec, fingerprint, timeoutSeconds, maxCalls },
    ...(onDivergence === 'fail' && { onDivergence }),
    ...(structured !== 'prompt' && { structured }),
    ...(trainCalls !== null && { trainCalls }),
    ...(sideModels.length > 0 && { sideModels }),
    ...(container && { container }),
  };
  return { resolved: { origins, options: { ...options, agent: null, numTurns: 1 } }, program };
}
