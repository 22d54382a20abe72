// The code of a run that a worker runs: the environments, tools and agents of the user's own commands, and those that the
// operator serves. Their words are those of the command or of the operator, whatever the run's folder says.

import { isDeepStrictEqual } from 'node:util';
import { type EnvironmentRecord, environmentTitle } from '../../domain/rollout/environment.ts';
import { isFunction, isSession, type ProgramRecord, programTitle } from '../../domain/agent/index.ts';
import { AgentError, EnvironmentError, ToolError } from '../../domain/errors/errors.ts';
import { ownName, type ToolRecord, toolTitle } from '../../domain/tools/tool.ts';
import type { Home } from '../service/home.ts';
import { maySendKey } from './model-permissions.ts';
import { type Operator, quotedShort } from './operator.ts';
import { registeredFor, registeredRun } from './registered.ts';

export interface ProgramPermissions {
  /**
   * The words to run for a run's own environment: as the user's command gave them, or as the operator serves the same
   * code. Throws EnvironmentError, which another worker may not have to.
   */
  mayUseEnvironment(record: EnvironmentRecord, runFolder: string): readonly string[];
  /** The same for a tool of a run. Throws ToolError. */
  mayUseTool(tool: ToolRecord, runFolder: string): readonly string[];
  /** The same for the agent's program of a run. Throws AgentError. */
  mayRunAgent(program: ProgramRecord, runFolder: string): readonly string[];
}

/** The operator's own commands and addresses, with what they say of themselves. */
export interface ServedPrograms {
  readonly environments?: readonly EnvironmentRecord[];
  readonly tools?: readonly ToolRecord[];
}

export function openProgramPermissions(
  operator: Operator,
  home: Home,
  served: ServedPrograms = {},
): ProgramPermissions {
  const ownRun = (runFolder: string) => registeredFor(registeredRun, home, runFolder);
  return {
    mayUseEnvironment(record, runFolder) {
      // Nothing is run here: its own worker answers on its own queue.
      if (record.door === 'queue') return record.spec;
      if (record.door === 'function') {
        throw new EnvironmentError(
          `The environment ${environmentTitle(record)} is code of the program that made the run.`,
          {
            ...{ reason: 'environment-not-served', retryable: true, ofThisWorker: true },
            fix: 'Start that program: it alone answers for it (docs/library.md).',
          },
        );
      }
      const isSame = (other: EnvironmentRecord) =>
        other.name === record.name && other.door === record.door && other.fingerprint === record.fingerprint;
      const ours = ownRun(runFolder)?.environments?.find(isSame) ?? served.environments?.find(isSame);
      if (ours?.judge) maySendKey(operator, ours.judge, true);
      if (ours) return ours.spec;
      if (record.door === 'module' && operator.runModules) return record.spec;
      const flag = record.door === 'module' ? '--run-modules' : `--serve ${quotedShort(record.spec.join(' '))}`;
      throw new EnvironmentError(`This worker does not run the environment ${environmentTitle(record)}.`, {
        reason: 'environment-not-served',
        ...servedBy(flag, 'docs/environments.md'),
      });
    },

    mayUseTool(tool, runFolder) {
      const isSame = (other: ToolRecord) =>
        ownName(other) === ownName(tool) && other.door === tool.door && other.fingerprint === tool.fingerprint;
      const ours = ownRun(runFolder)?.tools?.find(isSame) ?? served.tools?.find(isSame);
      if (ours) return ours.spec;
      if (tool.door === 'module' && operator.runModules) return tool.spec;
      const flag = tool.door === 'module' ? '--run-modules' : `--mcp ${quotedShort(tool.spec.join(' '))}`;
      throw new ToolError(`This worker does not run the tool ${toolTitle(tool)}.`, {
        reason: 'tool-not-served',
        ...servedBy(flag, 'docs/tools.md'),
      });
    },

    mayRunAgent(program, runFolder) {
      const registered = ownRun(runFolder)?.program;
      const { sideModels: sides = [] } = program;
      const isOwn = isDeepStrictEqual(sides, registered?.sideModels);
      for (const { url: server, apiKeyEnv } of sides) maySendKey(operator, { server, apiKeyEnv }, isOwn);
      if (isSession(program)) return program.spec;
      const isPlainFunction = isFunction(program);
      const ours = isPlainFunction
        ? (operator.runModules || registered?.fingerprint === program.fingerprint) && program.spec
        : [registered?.spec ?? [], ...operator.agents].find((words) => isDeepStrictEqual(words, program.spec));
      const { container } = program;
      // Its folders are copied and read: those that the user's own command named.
      if (ours && (!container || isDeepStrictEqual(container, registered?.container))) return ours;
      if (ours)
        throw new AgentError('This worker plays no containers of runs that a command of its user did not start.', {
          ...{ reason: 'agent-not-served', retryable: true, ofThisWorker: true },
          fix: 'A worker of the user who made the run does (docs/containers.md).',
        });
      const flag = isPlainFunction ? '--run-modules' : `--serve-agent ${quotedShort(program.spec.join(' '))}`;
      throw new AgentError(`This worker does not run the agent ${programTitle(program)}.`, {
        reason: 'agent-not-served',
        ...servedBy(flag, 'docs/agents.md'),
      });
    },
  };
}

const servedBy = (flag: string, page: string) => ({
  fix:
    `\`everturn worker ${flag}\` does (${page}); what \`everturn run\` starts is allowed by ` +
    'itself, for the workers of the same user.',
  retryable: true,
  ofThisWorker: true,
});
