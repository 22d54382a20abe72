// The tools of a worker: with a sandbox `python`, and modules and MCP servers as its operator permits them, whose processes
// end with the runs that use them.

import type { ToolRecord } from '../../domain/tools/tool.ts';
import type { CodeEnvironment } from '../code/code-environment.ts';
import type { Log } from '../processes/launch.ts';
import type { HasEnded } from '../../local/machine/shared-resources.ts';
import { createTools } from './index.ts';
import { mcpDoor } from './mcp.ts';
import { moduleDoor } from './module.ts';
import { pythonDoor } from './python.ts';
import type { Tools } from './tool.ts';

export interface ToolParts {
  /** Undefined: this worker has no sandbox. */
  readonly code: Pick<CodeEnvironment, 'run'> | undefined;
  readonly log: Log;
  /** The words to run for a tool of a run. Throws ToolError if this worker may not. */
  readonly permitted: (tool: ToolRecord, runFolder: string) => readonly string[];
  /** Default: no run of these has ended. */
  readonly hasEnded?: HasEnded;
}

export function openTools({ code, log, permitted, hasEnded = async () => false }: ToolParts): Tools {
  return createTools({
    ...(code && { python: pythonDoor(code) }),
    module: moduleDoor({ log, permitted, hasEnded }),
    mcp: mcpDoor({ log, permitted, hasEnded }),
  });
}
