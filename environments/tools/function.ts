// The door `function`: tools that are code of the program that made the run, called in that program. They run side by side,
// as the calls of rollouts come.

import { EnvironmentError, ToolError } from '../../domain/errors/errors.ts';
import { traceIn } from '../processes/envelope.ts';
import { sha256Hex } from '../../domain/text/sha256.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import type { ToolRecord } from '../../domain/tools/tool.ts';
import { withinSeconds } from '../../local/machine/aborted-wait.ts';
import { failureOf, lateBy } from '../processes/function-call.ts';
import { badTool, describedTool } from './described.ts';
import type { Door } from './index.ts';

/** A tool of a program, as a module exports it (docs/tools.md). */
export interface ToolFunction {
  readonly name: string;
  readonly description?: string;
  /** JSON schema of the arguments: an object. */
  readonly parameters?: JsonObject;
  /** Default: `once`. */
  readonly effect?: ToolRecord['effect'];
  /** Default: that of the run's `toolTimeoutSeconds`, or 60 s. */
  readonly timeoutSeconds?: number;
  /**
   * What it gives is told to the model, and so is the message of an error that it throws; one with `outage: true` says that
   * the tool could not do its work, and the call is tried again. `key`: the same for every retry of this call.
   */
  readonly run: (args: JsonObject, at: { readonly key: string; readonly signal: AbortSignal }) => unknown;
}

export interface ProgramTools {
  readonly records: readonly ToolRecord[];
  readonly door: Door;
}

/**
 * Throws ToolError for a tool that cannot be used, which names the tool and the field. `usualSeconds`: the time limit of one that
 * names none; null: 60.
 */
export function programTools(tools: readonly ToolFunction[], usualSeconds: number | null = null): ProgramTools {
  if (!Array.isArray(tools)) throw badTool('this program', 'list', '`tools` is no list of tools');
  const records = tools.map((tool: ToolFunction | null, place): ToolRecord => {
    if (typeof tool !== 'object' || tool === null) throw badTool('this program', `${place + 1}`, 'it is no object');
    const { run, ...said } = tool;
    const described = describedTool('this program', said, place, usualSeconds);
    if (typeof run !== 'function') throw badTool('this program', described.name, 'it has no function `run`');
    const fingerprint = sha256Hex(JSON.stringify([described, run.toString()]));
    return { ...described, door: 'function', spec: [described.name], fingerprint };
  });
  return {
    records,
    door: {
      async call({ name, timeoutSeconds }, { arguments: given, key, signal, before }) {
        const tool = tools.find((one) => one.name === name)!;
        await before();
        try {
          const result = await withinSeconds(timeoutSeconds, signal, lateBy(timeoutSeconds), async (limited) =>
            tool.run(given, { key, signal: limited }),
          );
          return { text: textOf(result), outcome: 'ok' };
        } catch (error) {
          if (signal.aborted) throw error;
          if (error instanceof EnvironmentError && error.reason === 'environment-timeout')
            return { text: `The tool ${name} gave no result in ${timeoutSeconds} s.`, outcome: 'timed-out' };
          const { message, trace } = failureOf(error);
          if ((Object(error) as { readonly outage?: unknown }).outage === true) {
            throw new ToolError(`The tool ${name} could not do its work: ${message}`, {
              reason: 'tool-unavailable',
              retryable: true,
              cause: error,
            });
          }
          return { text: message, outcome: 'failed', ...traceIn({ trace }) };
        }
      },
      close: () => undefined,
    },
  };
}

const textOf = (result: unknown): string =>
  typeof result === 'string' || typeof result === 'number' ? String(result) : (JSON.stringify(result) ?? '');
