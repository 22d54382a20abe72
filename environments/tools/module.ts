// The door `module`: the user's own file of tools, bundled when the run is made, kept in the run's folder under its hash,
// and loaded from there in processes of their own, one call at a time each. The process itself counts the time of a call,
// and a call that gives nothing in it ends its process; one that stands still is a failure of ours, and no result.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { EnvironmentError, ToolError } from '../../domain/errors/errors.ts';
import type { ToolRecord } from '../../domain/tools/tool.ts';
import { bundleModule } from '../own/bundle.ts';
import { type Log, passedEnv, PROCESSES } from '../own/command.ts';
import type { ProcessLaunch } from '../own/guarded-lines.ts';
import { LineProcess } from '../own/line-process.ts';
import { codeFile, type ModuleCode } from '../own/module.ts';
import { openProcessPool, type ProcessPool, START_MS } from '../own/process-pool.ts';
import { compiledScript } from '../../local/machine/compiled.ts';
import { type HasEnded, openHeld } from '../../local/machine/held.ts';
import { describedTool } from './described.ts';
import type { Door } from './index.ts';
import { mostMs } from './running-clock.ts';
import type { ToolAnswer } from './tool.ts';

const HEAP_MB = 512;
/** The call's own signal comes first: a tool that heeds it may say what it has. */
const GRACE_MS = 2_000;

function launchOf(who: string, bundle: string, sha256: string, log: Log): ProcessLaunch {
  const script = compiledScript('./module-child', import.meta.url, ToolError);
  const args = [`--max-old-space-size=${HEAP_MB}`, script, bundle, sha256];
  return { who, file: process.execPath, args, cwd: '/', env: passedEnv(), log };
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
  const { code, sha256 } = await bundleModule(path).catch((error: unknown) => {
    throw unloadable(who, error);
  });
  const folder = mkdtempSync(join(tmpdir(), 'everturn-tools-'));
  const bundle = join(folder, 'tools.cjs');
  writeFileSync(bundle, code);
  const child = new LineProcess(launchOf(who, bundle, sha256, log));
  try {
    const { tools } = (await child.hello({ timeoutMs: START_MS })) as { readonly tools: readonly unknown[] };
    const described = tools.map((tool, i) => describedTool(who, tool, i, timeoutSeconds));
    return {
      tools: described.map((tool) => ({ ...tool, door: 'module', spec: [path], fingerprint: sha256 })),
      code: { sha256, code },
    };
  } catch (error) {
    throw error instanceof EnvironmentError ? unloadable(who, error) : error;
  } finally {
    child.kill();
    rmSync(folder, { recursive: true, force: true });
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
  const pools = openHeld<ProcessPool>({ hasEnded, isUsed: (pool) => pool.isBusy(), close: (pool) => pool.close() });
  let closed = false;

  function poolOf({ fingerprint, spec }: ToolRecord, runFolder: string): ProcessPool {
    const bundle = join(runFolder, codeFile(fingerprint));
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
        throw error instanceof EnvironmentError ? outage(tool, error) : error;
      }
    },
    async close() {
      closed = true;
      await pools.close();
    },
  };
}

type CallResult =
  | { readonly text: string; readonly failed: boolean; readonly late?: boolean }
  /** Said by the clock of the process. */
  | { readonly timedOut: true };

/** Faults of the tool itself are told to the model. */
function answerOf({ name, timeoutSeconds }: ToolRecord, result: CallResult): ToolAnswer {
  if ('timedOut' in result)
    return { text: `The tool ${name} gave no result in ${timeoutSeconds} s.`, outcome: 'timed-out' };
  return { text: result.text, outcome: result.late ? 'timed-out' : result.failed ? 'failed' : 'ok' };
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
    cause: error.cause,
  });
}

/** The processes are those of environments, and their errors say so. */
const inWordsOfTools = (message: string): string =>
  message
    .replace(/^The environment .{0,200}? (?:does not load|failed in `\w+`): /, '')
    .replace(/^The environment /, 'The module ');

function unloadable(who: string, error: unknown): ToolError {
  const said = inWordsOfTools(error instanceof Error ? error.message : String(error));
  return new ToolError(`The tools of ${who} do not load: ${said}`, {
    reason: 'tool-unloadable',
    fix: 'A module of tools exports a list `tools`, each with a name, a description, parameters and run; docs/tools.md has one.',
  });
}
