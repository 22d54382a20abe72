// The tools of a command line: each module and server is loaded once, so that one that does not load, has another's name
// or an invalid schema is refused before anything is started.

import { accessSync, constants } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { createHash } from 'node:crypto';
import { ToolError, UsageError } from '../../domain/errors/errors.ts';
import { ownName, type ToolRecord, isToolName } from '../../domain/tools/tool.ts';
import { type Log, isFileAt } from '../processes/launch.ts';
import type { ModuleCode } from '../processes/bundle.ts';
import { parseSpec } from '../own/spec.ts';
import { describeMcpServer } from './mcp-server.ts';
import { describeToolModule, isPython } from './module.ts';
import { PYTHON } from './python.ts';

export interface ToolSpecs {
  readonly tool: readonly string[];
  readonly mcp: readonly string[];
  /** The limit of tools that have none of their own. */
  readonly toolTimeoutSeconds: number | null;
}

export interface DescribedTools {
  readonly list: readonly ToolRecord[];
  /** The code of modules, to be stored in the run's folder. */
  readonly codes: readonly ModuleCode[];
}

export async function describeTools(
  { tool, mcp, toolTimeoutSeconds }: ToolSpecs,
  cwd: string,
  log: Log,
): Promise<DescribedTools> {
  const modules = await Promise.all(
    tool.map(async (text) => {
      if (text === 'python') return { tools: [pythonWith(toolTimeoutSeconds)], code: undefined };
      return describeToolModule(modulePath(text, cwd), toolTimeoutSeconds, log);
    }),
  );
  const servers = await Promise.all(
    mcp.map((text) => describeMcpServer(commandWords(text, cwd), toolTimeoutSeconds, log)),
  );
  const list = callableTools([...modules.flatMap(({ tools }) => tools), ...servers.flat()]);
  mustDiffer(list);
  return { list, codes: modules.flatMap(({ code }) => code ?? []) };
}

/** Throws a ToolError if two have one name. */
export function mustDiffer(list: readonly ToolRecord[]): void {
  for (const [i, { name }] of list.entries()) {
    const first = list.findIndex((other) => other.name === name);
    if (first === i) continue;
    const [a, b] = [list[first]!, list[i]!].map(({ door, spec }) =>
      door === 'python' ? 'python' : `${door} ${spec.join(' ')}`,
    );
    throw new ToolError(`Two tools are named ${JSON.stringify(ownName(list[i]!))}: one of ${a}, one of ${b}.`, {
      reason: 'bad-tool',
      fix: 'Leave one of them out, or give one another name.',
    });
  }
}

/** The operator's own servers. */
export async function servedTools(
  mcp: readonly string[],
  log: Log,
  cwd = process.cwd(),
): Promise<readonly ToolRecord[]> {
  return (await Promise.all(mcp.map((text) => describeMcpServer(commandWords(text, cwd), null, log)))).flat();
}

function pythonWith(timeoutSeconds: number | null): ToolRecord {
  return timeoutSeconds === null ? PYTHON : { ...PYTHON, timeoutSeconds };
}

function modulePath(text: string, cwd: string): string {
  const fix = 'Give python, or a module of tools (./my-tools.ts, ./my_tools.py); a server of tools is --mcp.';
  if (isPython(text) && isFileAt(resolve(cwd, text))) return resolve(cwd, text);
  if (!/\.(?:[cm]?[jt]s|py)$/i.test(text)) throw refused('--tool', text, 'is neither python nor a module', fix);
  try {
    const { door, words } = parseSpec(text, cwd);
    if (door === 'module') return words[0]!;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
  }
  throw refused('--tool', text, 'is no file', fix);
}

function commandWords(text: string, cwd: string): readonly string[] {
  const fix = 'Give the command of an MCP server on standard input and output, as in --mcp "npx some-server".';
  if (/^https?:/i.test(text)) throw refused('--mcp', text, 'is an address', fix);
  // A program of the PATH; as an environment one word is a file.
  if (/^[\w.+-]+$/.test(text) && !isFileAt(resolve(cwd, text)) && isProgram(text)) return [text];
  try {
    const { door, words } = parseSpec(text, cwd);
    if (door === 'command') return words;
    if (door === 'module') return ['node', words[0]!];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const problem = /^[\w.+-]+$/.test(text)
      ? 'is neither a file nor a program of the PATH'
      : error.message.replace(/^.*?" |\.$/g, '');
    throw refused('--mcp', text, problem, fix);
  }
  throw refused('--mcp', text, 'is no command', fix);
}

/** A program of the PATH. */
export function isProgram(name: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return isFileAt(path);
    } catch {
      return false;
    }
  });
}

function refused(flag: string, text: string, problem: string, fix: string): UsageError {
  return new UsageError(`${flag} ${JSON.stringify(text.slice(0, 200))} ${problem}.`, { reason: 'bad-value', fix });
}

const MAX_LENGTH = 64;
const HASH_LENGTH = 8;

export function callableTools(tools: readonly ToolRecord[]): readonly ToolRecord[] {
  const names = tools.map(({ name }) => (isToolName(name) ? name : callable(name)));
  const isTaken = (name: string) => names.indexOf(name) !== names.lastIndexOf(name);
  return tools.map((tool, i) => {
    if (isToolName(tool.name)) return tool;
    const name = names[i]!;
    return { ...tool, own: tool.name, name: isTaken(name) ? withHash(name, tool.name) : name };
  });
}

const callable = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/gu, '_').slice(0, MAX_LENGTH);

const withHash = (name: string, own: string): string =>
  `${name.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${createHash('sha256').update(own).digest('hex').slice(0, HASH_LENGTH)}`;
