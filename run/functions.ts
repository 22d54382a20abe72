// Functions of the program that starts a run, as its model, its environment or its tools: known by their names and the text of
// their code, and called in that program (program-worker.ts).

import {
  type EnvironmentFunction,
  type EnvironmentFunctions,
  programEnvironment,
} from '../environments/own/function.ts';
import { programTools, type ToolFunction } from '../environments/tools/function.ts';
import { functionBackend, type ModelFunction } from '../inference/function-model.ts';
import type { RunOptions } from './options.ts';

/** What a function reads beside its arguments is no part of its identity: a value that changes the run belongs in a name or a version. */
export interface GivenFunctions {
  readonly model?: ModelFunction | undefined;
  readonly environment?: EnvironmentFunction | EnvironmentFunctions | undefined;
  readonly tools?: readonly ToolFunction[] | undefined;
}

export type ProgramParts = NonNullable<ReturnType<typeof programParts>>;

/**
 * The same functions as the run's records name them and its worker calls them; undefined without any. Throws an EnvironmentError or
 * a ToolError for one that cannot be used.
 */
export function programParts(
  { model, environment, tools }: GivenFunctions,
  { toolTimeoutSeconds, requestTimeoutSeconds }: Pick<RunOptions, 'toolTimeoutSeconds' | 'requestTimeoutSeconds'>,
) {
  const ownTools = tools === undefined ? undefined : programTools(tools, toolTimeoutSeconds);
  const parts = {
    ...(model && { model: functionBackend(model, requestTimeoutSeconds) }),
    ...(environment !== undefined && { environment: programEnvironment(environment) }),
    ...(ownTools && ownTools.records.length > 0 && { tools: ownTools }),
  };
  return Object.keys(parts).length > 0 ? parts : undefined;
}
