// The tools of a worker: with a sandbox `python`, and modules and MCP servers as its operator permits them.

import type { ToolRecord } from '../domain/tool.ts';
import type { CodeEnvironment } from '../environments/code/code-environment.ts';
import type { Log } from '../environments/own/command.ts';
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
}

export function openTools({ code, log, permitted }: ToolParts): Tools {
  return createTools({
    ...(code && { python: pythonDoor(code) }),
    module: moduleDoor({ log, permitted }),
    mcp: mcpDoor({ log, permitted }),
  });
}
