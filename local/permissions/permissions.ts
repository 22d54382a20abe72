// The resources that a workflow may use on a worker. Any client of the Temporal server can start a workflow and write its
// input, so each folder, model and key that an input names must be permitted by the operator, or belong to a run that
// this user's own command made. Otherwise it fails as `not-allowed`, without retry, before any read, write or request.

import { isDeepStrictEqual } from 'node:util';
import { type EnvironmentRecord, environmentTitle } from '../../domain/rollout/environment.ts';
import { isFunction } from '../../domain/agent/function.ts';
import { isSession, type ProgramRecord, programTitle } from '../../domain/agent/program.ts';
import { AgentError, EnvironmentError, ToolError, UsageError } from '../../domain/errors/errors.ts';
import { trainedIn } from '../../domain/run/evaluation.ts';
import { isRunName } from '../../domain/names/ids.ts';
import type { RolloutSettings } from '../../domain/rollout/settings.ts';
import { ownName, type ToolRecord, toolTitle } from '../../domain/tools/tool.ts';
import { parseModelSpec } from '../../inference/index.ts';
import type { Home } from '../service/home.ts';
import { isUnder, plainPath, realPath } from './folders.ts';
import { type Operator, OPERATOR_VARIABLES } from './operator.ts';
import { registeredRun, registeredUpdates } from './registered.ts';

export interface Permissions {
  /** For every step: the folder that a run is read from and written to. */
  mayUseRun(out: string, run: string): void;
  mayReadDataset(path: string): void;
  /** The model, its tokenizer and the key that a rollout of this run would use. */
  mayUseModel(settings: RolloutSettings, runFolder: string): void;
  /** The folder of new weights, and the key for the servers that load them. */
  mayUseWeights(update: WeightsUse): void;
  /**
   * The words to run for a run's own environment: as the user's command gave them, or as the operator serves the same
   * code. Throws EnvironmentError, which another worker may not have to.
   */
  mayUseEnvironment(record: EnvironmentRecord, runFolder: string): readonly string[];
  /** The same for a tool of a run. Throws ToolError. */
  mayUseTool(tool: ToolRecord, runFolder: string): readonly string[];
  /** The same for the agent's program of a run. Throws AgentError. */
  mayRunAgent(program: ProgramRecord, runFolder: string): readonly string[];
  /** A tokenizer that a server, not the settings, names. */
  mayLoad(settings: RolloutSettings, runFolder: string): (folderOrHubId: string) => void;
}

export interface WeightsUse {
  readonly settings: RolloutSettings;
  /** The run's. */
  readonly folder: string;
  readonly weights: string;
  readonly apiKeyEnv: string | null;
}

/** A permitted run is not checked again for this long: each turn asks in five steps. */
const ALLOWED_FOR_MS = 5_000;
const MOST_KNOWN = 1_000;

/** `served`, `servedTools`: the operator's own commands and addresses, with what they say of themselves. */
export function openPermissions(
  operator: Operator,
  home: Home,
  served: readonly EnvironmentRecord[] = [],
  now: () => number = Date.now,
  servedTools: readonly ToolRecord[] = [],
): Permissions {
  const known = new Map<string, number>();

  /** An evaluation may use what its training run may. */
  function registeredFor<T>(of: (home: Home, folder: string) => T | undefined, runFolder: string): T | undefined {
    const folder = realPath(runFolder);
    if (folder === undefined) return undefined;
    const trained = trainedIn(folder);
    return of(home, folder) ?? (trained === null ? undefined : of(home, trained));
  }
  const ownRun = (runFolder: string) => registeredFor(registeredRun, runFolder);
  const ownUpdates = (runFolder: string) => registeredFor(registeredUpdates, runFolder);

  function isAllowedPath(path: unknown): boolean {
    const plain = plainPath(path);
    const real = plain === undefined ? undefined : realPath(plain);
    return real !== undefined && operator.runsUnder.some((folder) => isUnder(real, folder));
  }

  /** May a command of this user's choose that variable? */
  function isOwnName(name: string): boolean {
    return (
      operator.ownKeys === 'any' ||
      (operator.ownKeys === 'api-keys' && name.endsWith('_API_KEY')) ||
      operator.keys.some((rule) => rule.name === name && rule.origin === null)
    );
  }

  function mayUseModel(settings: RolloutSettings, runFolder: string): void {
    const { model, tokenizer, apiKeyEnv } = settings;
    const own = ownRun(runFolder);
    const isOwn = own?.model === model && own.tokenizer === tokenizer;
    const { files, servers } = parseModelSpec(model);
    if (!isOwn && files !== null) mayLoadHere(files);
    if (!isOwn && tokenizer !== null) mayLoadHere(tokenizer);
    if (apiKeyEnv === null) return;
    const origins = servers.map((url) => new URL(url).origin);
    const rules = operator.keys.filter(({ name }) => name === apiKeyEnv);
    const isListed = (origin: string) => rules.some((rule) => rule.origin === origin);
    if (origins.length > 0 && origins.every(isListed)) return;
    if (isOwn && own.apiKeyEnv === apiKeyEnv && isOwnName(apiKeyEnv)) return;
    const to = origins.length > 0 ? origins.join(', ') : 'nobody';
    throw refused(
      `send the key in ${quoted(apiKeyEnv)} to ${to}`,
      'apiKeyEnv',
      isOwn ? apiKeyEnv : `${apiKeyEnv}=${origins[0] ?? '<url>'}`,
    );
  }

  /** The key of a judge that the user's own command, or this worker's operator, named. */
  function mayAskJudge({ server, apiKeyEnv }: NonNullable<EnvironmentRecord['judge']>): void {
    const { origin } = new URL(server);
    const isListed = operator.keys.some((rule) => rule.name === apiKeyEnv && rule.origin === origin);
    if (apiKeyEnv === null || isListed || isOwnName(apiKeyEnv)) return;
    throw refused(`send the key in ${quoted(apiKeyEnv)} to ${origin}`, 'apiKeyEnv', `${apiKeyEnv}=${origin}`);
  }

  function mayLoadHere(named: string): void {
    const plain = plainPath(named);
    const real = plain === undefined ? undefined : realPath(plain);
    const allowed =
      plain === undefined
        ? operator.models.includes(named)
        : real !== undefined && operator.models.some((folder) => folder.startsWith('/') && isUnder(real, folder));
    if (!allowed) throw refused(`load the model or tokenizer ${quoted(named)}`, 'models', shown(named));
  }

  return {
    mayUseRun(out, run) {
      const plain = plainPath(out);
      if (plain === undefined) {
        throw new UsageError(
          `\`out\` is ${quoted(out)}, and a workflow names its folder by an absolute path or as s3://bucket/prefix.`,
          {
            reason: 'not-allowed',
            fix: 'Give an absolute path, or a place in a bucket, without `..`, `.` or empty parts.',
          },
        );
      }
      // The store rejects it with its own message.
      if (!isRunName(run)) return;
      const folder = plain === '/' ? `/${run}` : `${plain}/${run}`;
      if ((known.get(folder) ?? 0) > now()) return;
      if (!isAllowedPath(folder) && ownRun(folder) === undefined && ownUpdates(folder) === undefined)
        throw refused(`use the folder ${quoted(folder)}`, 'runsUnder', shown(plain));
      if (known.size >= MOST_KNOWN) known.clear();
      known.set(folder, now() + ALLOWED_FOR_MS);
    },

    mayReadDataset(path) {
      if (!isAllowedPath(path)) throw refused(`read the data set ${quoted(path)}`, 'runsUnder', '<its folder>');
    },

    mayUseModel,

    mayUseWeights({ settings, folder, weights, apiKeyEnv }) {
      if (plainPath(weights) === undefined) {
        throw new UsageError(`\`weights\` is ${quoted(weights)}, and an update names its folder by an absolute path.`, {
          reason: 'not-allowed',
          fix: 'Give it from the root on, without `..`, `.` or empty parts.',
        });
      }
      const own = ownUpdates(folder);
      const isOwn = own?.model === settings.model && own.apiKeyEnv === apiKeyEnv;
      if (!isOwn || !own.weights.includes(weights)) mayLoadHere(weights);
      if (apiKeyEnv !== null && !(isOwn && isOwnName(apiKeyEnv))) mayUseModel({ ...settings, apiKeyEnv }, folder);
    },

    mayUseEnvironment(record, runFolder) {
      // Nothing is run here: its own worker answers on its own queue.
      if (record.door === 'queue') return record.spec;
      const same = (other: EnvironmentRecord) =>
        other.name === record.name && other.door === record.door && other.fingerprint === record.fingerprint;
      // The words are those of the own command, whatever the run's folder says.
      const ours = ownRun(runFolder)?.environments?.find(same) ?? served.find(same);
      if (ours?.judge) mayAskJudge(ours.judge);
      if (ours) return ours.spec;
      if (record.door === 'module' && operator.runModules) return record.spec;
      const flag = record.door === 'module' ? '--run-modules' : `--serve ${quoted(record.spec.join(' '))}`;
      throw new EnvironmentError(`This worker does not run the environment ${environmentTitle(record)}.`, {
        reason: 'environment-not-served',
        fix:
          `\`everturn worker ${flag}\` does (docs/environments.md); what \`everturn run\` starts is allowed by ` +
          'itself, for the workers of the same user.',
        retryable: true,
        ofThisWorker: true,
      });
    },

    mayUseTool(tool, runFolder) {
      const same = (other: ToolRecord) =>
        ownName(other) === ownName(tool) && other.door === tool.door && other.fingerprint === tool.fingerprint;
      const known = ownRun(runFolder)?.tools?.find(same) ?? servedTools.find(same);
      if (known) return known.spec;
      if (tool.door === 'module' && operator.runModules) return tool.spec;
      const flag = tool.door === 'module' ? '--run-modules' : `--mcp ${quoted(tool.spec.join(' '))}`;
      throw new ToolError(`This worker does not run the tool ${toolTitle(tool)}.`, {
        reason: 'tool-not-served',
        fix:
          `\`everturn worker ${flag}\` does (docs/tools.md); what \`everturn run\` starts is allowed by ` +
          'itself, for the workers of the same user.',
        retryable: true,
        ofThisWorker: true,
      });
    },

    mayRunAgent(program, runFolder) {
      if (isSession(program)) return program.spec;
      const known = ownRun(runFolder)?.program;
      if (isFunction(program)) {
        if (operator.runModules || known?.fingerprint === program.fingerprint) return program.spec;
        throw notServed(program, '--run-modules');
      }
      const words = known?.spec ?? [];
      const own = [words, ...operator.agents].find((other) => isDeepStrictEqual(other, program.spec));
      if (own) return own;
      throw notServed(program, `--serve-agent ${quoted(program.spec.join(' '))}`);
    },

    mayLoad(settings, runFolder) {
      return (named) => {
        const own = ownRun(runFolder);
        if (own?.model !== settings.model || own.tokenizer !== settings.tokenizer) mayLoadHere(named);
      };
    },
  };
}

const FLAGS = { runsUnder: '--runs-under', models: '--models', apiKeyEnv: '--api-key-env' } as const;

function refused(what: string, list: keyof typeof OPERATOR_VARIABLES, entry: string): UsageError {
  return new UsageError(`This worker does not ${what} for a workflow.`, {
    reason: 'not-allowed',
    fix:
      `\`everturn worker ${FLAGS[list]} ${entry}\` allows it, or ${OPERATOR_VARIABLES[list]} (docs/security.md); ` +
      'what `everturn run` starts is allowed by itself, for the workers of the same user.',
    ofThisWorker: true,
  });
}

function notServed(program: ProgramRecord, flag: string): AgentError {
  return new AgentError(`This worker does not run the agent ${programTitle(program)}.`, {
    reason: 'agent-not-served',
    fix:
      `\`everturn worker ${flag}\` does (docs/agents.md); what \`everturn run\` starts is allowed by itself, for the ` +
      'workers of the same user.',
    retryable: true,
    ofThisWorker: true,
  });
}

function quoted(value: unknown): string {
  return JSON.stringify(String(value).slice(0, 200));
}

function shown(text: string): string {
  return /^[\w./:@+-]{1,200}$/.test(text) ? text : '<name>';
}
