// The door `module`: the user's own file of tools, in Python as it is, else bundled, when the run is made; kept in the run's
// folder under its hash, and loaded from there in processes of their own, one call at a time each. The process itself counts
// the time of a call, and a call that gives nothing in it ends its process; one that stands still is a failure of ours, and
// no result.

import { basename, join } from 'node:path';
import { EnvironmentError, ToolError } from '../../domain/errors/errors.ts';
import type { ToolRecord } from '../../domain/tools/tool.ts';
import { asItIs, withBundle, bundledCodeFile, type ModuleCode } from '../processes/bundle.ts';
import { traceIn } from '../processes/envelope.ts';
import { bundleLaunch, type Log, packageLaunch, PROCESSES, type ProcessLaunch } from '../processes/launch.ts';
import { LineProcess } from '../processes/line-process.ts';
import { openProcessPool, type ProcessPool, START_MS } from '../processes/process-pool.ts';
import { compiledScript } from '../../local/machine/compiled.ts';
import { type HasEnded, openSharedResources } from '../../local/machine/shared-resources.ts';
import { describedTool } from './described.ts';
import type { Door } from './index.ts';
import { mostMs } from './mcp-process.ts';
import type { ToolAnswer } from './tool.ts';

/** The call's own signal comes first: a tool that heeds it may say what it has. */
const GRACE_MS = 2_000;

/** A module in Python is one file, kept as it is. */
export const isPython = (path: string): boolean => /\.py$/i.test(path);

function launchOf(who: string, bundle: string, sha256: string, log: Log): ProcessLaunch {
  if (isPython(who)) return packageLaunch(who, ['everturn.tool_process', bundle, sha256, who], log);
  return bundleLaunch(who, compiledScript('./module-child', import.meta.url, ToolError), bundle, sha256, log);
}

export interface DescribedModule {
  readonly tools: readonly ToolRecord[];
  readonly code: ModuleCode;
}

/** Loads the module once, to learn its tools. Throws a ToolError if it does not load. */
export async function describeToolModule(
  path: string,
  timeoutSeconds: number | null,
  log: Log,
): Promise<DescribedModule> {
  const who = basename(path);
  try {
    return await (isPython(path) ? asItIs : withBundle)(path, async (file, code) => {
      const child = new LineProcess(launchOf(who, file, code.sha256, log));
      try {
        const { tools } = (await child.hello({ timeoutMs: START_MS })) as { readonly tools: readonly unknown[] };
        const described = tools.map((tool, i) => describedTool(who, tool, i, timeoutSeconds));
        const own = { door: 'module', spec: [path], fingerprint: code.sha256 } as const;
        return { tools: described.map((tool) => ({ ...tool, ...own })), code };
      } finally {
        child.kill();
      }
    });
  } catch (error) {
    throw error instanceof EnvironmentError ? unloadable(who, error) : error;
  }
}

export interface ModuleDoorOptions {
  readonly log: Log;
  /** Throws if this worker may not run the tool. */
  readonly permitted: (tool: ToolRecord, runFolder: string) => void;
  readonly hasEnded?: HasEnded;
  readonly processes?: number;
  /** The longest wait for a call, on any clock. */
  readonly longestMs?: (timeoutMs: number) => number;
}

export function moduleDoor({
  log,
  permitted,
  hasEnded = async () => false,
  processes = PROCESSES,
  longestMs = mostMs,
}: ModuleDoorOptions): Door {
  const pools = openSharedResources<ProcessPool>({
    hasEnded,
    isUsed: (pool) => pool.isBusy(),
    close: (pool) => pool.close(),
  });
  let closed = false;

  function poolOf({ fingerprint, spec }: ToolRecord, runFolder: string): ProcessPool {
    const bundle = join(runFolder, bundledCodeFile(fingerprint));
    return pools.of(bundle, runFolder, () => {
      const launch = launchOf(basename(spec[0] ?? 'tools'), bundle, fingerprint, log);
      // The child compares the hash of what it loads.
      return openProcessPool({ most: processes, launch, accept: () => undefined });
    });
  }

  return {
    async call(tool, { arguments: given, key, signal, before }, runFolder) {
      permitted(tool, runFolder);
      if (closed) throw new ToolError('The worker is ending.', { reason: 'tool-closed', retryable: true });
      const timeoutMs = tool.timeoutSeconds * 1000;
      let asked = false;
      try {
        return await poolOf(tool, runFolder).use(key, signal, async ({ process }) => {
          await before();
          asked = true;
          const params = { tool: tool.name, arguments: given, key, timeoutMs, graceMs: GRACE_MS };
          const limits = { signal, timeoutMs: longestMs(timeoutMs) + GRACE_MS };
          const result = (await process.call('call', params, limits)) as CallResult;
          // It hangs.
          if ('timedOut' in result) process.kill();
          return answerOf(tool, result);
        });
      } catch (error) {
        if (asked && error instanceof EnvironmentError) {
          if (error.reason === 'environment-too-large') return tooLarge(tool);
          if (error.reason === 'environment-timeout') throw stoodStill(tool, error);
        }
        if (!(error instanceof EnvironmentError)) throw error;
        throw error.reason === 'environment-unloadable'
          ? unloadable(basename(tool.spec[0] ?? 'tools'), error)
          : outage(tool, error);
      }
    },
    async close() {
      closed = true;
      await pools.close();
    },
  };
}

type CallResult =
  | { readonly text: string; readonly failed: boolean; readonly late?: boolean; readonly trace?: string }
  /** Said by the clock of the process. */
  | { readonly timedOut: true };

/** Faults of the tool itself are told to the model. */
function answerOf({ name, timeoutSeconds }: ToolRecord, result: CallResult): ToolAnswer {
  if ('timedOut' in result)
    return { text: `The tool ${name} gave no result in ${timeoutSeconds} s.`, outcome: 'timed-out' };
  const outcome = result.late ? 'timed-out' : result.failed ? 'failed' : 'ok';
  return { text: result.text, outcome, ...traceIn(result) };
}

const tooLarge = ({ name }: ToolRecord): ToolAnswer => ({
  text: `The tool ${name} gave more than 1 MiB, which is not shown.`,
  outcome: 'failed',
});

/** Its own clock did not count to the limit: the machine is at fault. */
function stoodStill({ name, timeoutSeconds }: ToolRecord, cause: EnvironmentError): ToolError {
  return new ToolError(
    `The tool ${name} could not do its work: its process stood still, and did not run for ${timeoutSeconds} s.`,
    {
      reason: 'tool-unavailable',
      fix: 'Is the machine short of memory or processors, or was the process stopped?',
      retryable: true,
      cause,
    },
  );
}

function outage({ name }: ToolRecord, error: EnvironmentError): ToolError {
  const closed = error.reason === 'environment-closed';
  return new ToolError(`The tool ${name} could not do its work: ${inWordsOfTools(error.message)}`, {
    reason: closed ? 'tool-closed' : 'tool-unavailable',
    retryable: true,
    ...(error.fix === undefined ? {} : { fix: error.fix }),
    ...(error.trace === undefined ? {} : { trace: error.trace }),
    cause: error.cause,
  });
}

/** The processes are those of environments, and their errors say so. */
const inWordsOfTools = (message: string): string =>
  message
    .replace(/^The environment .{0,200}? (?:does not load|failed in `\w+`): /, '')
    .replace(/^The environment /, 'The module ');

/** The log has shown its traceback. */
function unloadable(who: string, { message }: EnvironmentError): ToolError {
  return new ToolError(`The tools of ${who} do not load: ${inWordsOfTools(message)}`, {
    reason: 'tool-unloadable',
    fix: isPython(who)
      ? 'Each public function with type hints and a docstring is a tool; what the file imports must be installed for python3.'
      : 'A module of tools exports a list `tools`, each with a name, a description, parameters and run; docs/tools.md has one.',
  });
}
