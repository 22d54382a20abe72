// An MCP server that has begun: its process, and the tools that it says it has, on all pages of its list. Throws a ToolError for
// one that does not begin, or whose tools cannot be used.

import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { z } from 'zod';
import { ToolError } from '../../domain/errors/errors.ts';
import { ownName, type ToolRecord } from '../../domain/tools/tool.ts';
import { commandLaunch, type Log } from '../processes/launch.ts';
import { badTool, describedTool } from './described.ts';
import { type McpProcess, openMcpProcess } from './mcp-process.ts';

/** `npx` may have to download it first. */
const START_MS = 120_000;
const MAX_PAGES = 64;
const MAX_NAME_LENGTH = 128;
const MAX_DESCRIPTION_LENGTH = 8192;
const OWN_VARIABLES = /^MCP_\w+$/;
const PAGE = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() });

export interface Served {
  readonly process: McpProcess;
  /** Tools, by their own names. */
  readonly tools: readonly ToolRecord[];
}

/** Starts a server and asks for its tools. */
export async function openMcpServer(
  words: readonly string[],
  timeoutSeconds: number | null,
  log: Log,
): Promise<Served> {
  const launch = commandLaunch(words, log);
  const own = Object.entries(process.env).filter(([name, value]) => OWN_VARIABLES.test(name) && value !== undefined);
  const env = { ...launch.env, ...(Object.fromEntries(own) as Record<string, string>) };
  let server: McpProcess | undefined;
  try {
    server = await openMcpProcess({ ...launch, env }, { timeoutMs: START_MS });
    const said = await toolsOf(server, launch.who);
    const described = said.map((tool, i) => fromServer(launch.who, tool, i, timeoutSeconds));
    const names = described.map(({ name }) => name);
    const twice = names.find((name, i) => names.indexOf(name) < i);
    if (twice !== undefined) throw badTool(launch.who, twice, 'it is named twice');
    const fingerprint = createHash('sha256')
      .update(JSON.stringify([...server.info, described]))
      .digest('hex');
    return {
      process: server,
      tools: described.map((tool) => ({ ...tool, door: 'mcp', spec: [...words], fingerprint })),
    };
  } catch (error) {
    server?.close();
    if (error instanceof ToolError && error.reason !== 'tool-unavailable') throw error;
    const said = error instanceof Error ? error.message : String(error);
    throw new ToolError(`The MCP server ${launch.who} does not begin: ${said}`, {
      reason: 'tool-unloadable',
      fix: 'Does its command run in a terminal, and does it speak MCP on standard input and output?',
      retryable: true,
      cause: error,
    });
  }
}

/** The tools of a server. Throws a ToolError if it does not begin. */
export async function describeMcpServer(
  words: readonly string[],
  timeoutSeconds: number | null,
  log: Log,
): Promise<readonly ToolRecord[]> {
  const { process: server, tools } = await openMcpServer(words, timeoutSeconds, log);
  server.close();
  return tools;
}

/** Throws a ToolError if the server no longer has a run's tool. */
export function mustBeRecordedTool(words: readonly string[], tool: ToolRecord, tools: readonly ToolRecord[]): void {
  if (tools[0]?.fingerprint === tool.fingerprint || sameTool(tool, tools)) return;
  throw new ToolError(
    `The MCP server ${basename(words[0] ?? '')} has other tools than when the run was made: ${tool.name} is not the same.`,
    { reason: 'tool-mismatch', fix: 'Name its version in its command, as in "npx some-server@1.2.3".' },
  );
}

/** The time limit is the run's; all else must be equal. */
function sameTool(tool: ToolRecord, tools: readonly ToolRecord[]): boolean {
  const shown = (one: ToolRecord) => JSON.stringify([ownName(one), one.description, one.parameters, one.effect]);
  return tools.some((one) => shown(one) === shown(tool));
}

/** An empty cursor is a cursor. A server that gives one page again and again has no more. */
async function toolsOf(server: McpProcess, who: string): Promise<readonly unknown[]> {
  const tools: unknown[] = [];
  let cursor: string | null | undefined;
  let last = '';
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = typeof cursor === 'string' ? { cursor } : {};
    const { tools: more, nextCursor } = await server.request('tools/list', params, PAGE, { timeoutMs: START_MS });
    const text = JSON.stringify(more);
    const isAgain = page > 0 && nextCursor === cursor && text === last;
    if (!isAgain) for (const tool of more) tools.push(tool);
    if (!isAgain && typeof nextCursor === 'string') {
      [cursor, last] = [nextCursor, text];
      continue;
    }
    if (tools.length > 0) return tools;
    throw broken(who, 'it has no tools');
  }
  throw broken(who, `its list of tools has more than ${MAX_PAGES} pages`);
}

function fromServer(who: string, value: unknown, place: number, timeoutSeconds: number | null) {
  const { name, description, inputSchema, annotations } = (value ?? {}) as Record<string, unknown>;
  const { readOnlyHint, idempotentHint } = (annotations ?? {}) as Record<string, unknown>;
  const effect = readOnlyHint === true ? 'pure' : idempotentHint === true ? 'idempotent' : 'once';
  const said = {
    name,
    ...(typeof description === 'string' && { description: description.slice(0, MAX_DESCRIPTION_LENGTH) }),
    effect,
    ...(inputSchema !== undefined && { parameters: inputSchema }),
  };
  return describedTool(who, said, place, timeoutSeconds, {
    test: (text) => text.trim() !== '' && text.length <= MAX_NAME_LENGTH,
    flaw: `is no name of 1 to ${MAX_NAME_LENGTH} characters`,
  });
}

function broken(who: string, problem: string): ToolError {
  return new ToolError(`The MCP server ${who} cannot be used: ${problem}.`, { reason: 'bad-tool' });
}
