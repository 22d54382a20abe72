// The door `mcp`: servers that speak the Model Context Protocol over standard input and output. One process per worker
// and server, shared by all rollouts: its tools must not keep a rollout's state. A failed tool is a result that the model
// is told; a server that is gone, or breaks the protocol, is an outage.

import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { ToolError } from '../../domain/errors/errors.ts';
import { short } from '../../domain/text/foreign-text.ts';
import { isToolName, type ToolRecord } from '../../domain/tools/tool.ts';
import { commandLaunch, type Log } from '../processes/launch.ts';
import { type HasEnded, openHeld } from '../../local/machine/held.ts';
import { everturnVersion } from '../../local/machine/package-root.ts';
import { badTool, describedTool } from './described.ts';
import type { Door } from './index.ts';
import { McpProcess, RpcError, RpcTimeout, RpcTooLarge } from './mcp-process.ts';
import { mostMs } from './running-clock.ts';
import type { ToolAnswer } from './tool.ts';

/** `npx` may have to download it first. */
const START_MS = 120_000;
const MAX_PAGES = 64;
const PROTOCOL = '2025-06-18';
const INVALID_PARAMS = -32602;
const OWN_VARIABLES = /^MCP_\w+$/;

interface Served {
  readonly process: McpProcess;
  readonly tools: readonly ToolRecord[];
}

/** Starts a server and asks for its tools. */
async function openServer(words: readonly string[], timeoutSeconds: number | null, log: Log): Promise<Served> {
  const launch = commandLaunch(words, log);
  const own = Object.entries(process.env).filter(([name, value]) => OWN_VARIABLES.test(name) && value !== undefined);
  const server = new McpProcess({
    ...launch,
    env: { ...launch.env, ...(Object.fromEntries(own) as Record<string, string>) },
  });
  const limits = { timeoutMs: START_MS };
  try {
    const clientInfo = { name: 'everturn', version: everturnVersion() };
    const hello = (await server.request(
      'initialize',
      { protocolVersion: PROTOCOL, capabilities: {}, clientInfo },
      limits,
    )) as {
      readonly serverInfo?: { readonly name?: unknown; readonly version?: unknown };
    };
    server.notify('notifications/initialized');
    const tools: unknown[] = [];
    let cursor: unknown;
    for (let page = 0; page < MAX_PAGES; page++) {
      const list = (await server.request('tools/list', cursor === undefined ? {} : { cursor }, limits)) as {
        readonly tools?: unknown;
        readonly nextCursor?: unknown;
      } | null;
      if (!Array.isArray(list?.tools)) throw broken(launch.who, 'its tools/list has no list `tools`');
      tools.push(...(list.tools as unknown[]));
      cursor = list.nextCursor;
      if (typeof cursor !== 'string' || cursor === '') break;
    }
    if (tools.length === 0) throw broken(launch.who, 'it has no tools');
    const described = tools.map((tool, i) => fromServer(launch.who, tool, i, timeoutSeconds));
    const names = described.map(({ name }) => name);
    const twice = names.find((name, i) => names.indexOf(name) < i);
    if (twice !== undefined) throw badTool(launch.who, twice, 'it is named twice');
    const identity = [hello?.serverInfo?.name ?? null, hello?.serverInfo?.version ?? null, described];
    const fingerprint = createHash('sha256').update(JSON.stringify(identity)).digest('hex');
    return {
      process: server,
      tools: described.map((tool) => ({ ...tool, door: 'mcp', spec: [...words], fingerprint })),
    };
  } catch (error) {
    server.close();
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

function fromServer(who: string, value: unknown, place: number, timeoutSeconds: number | null) {
  const { name, description, inputSchema, annotations } = (value ?? {}) as Record<string, unknown>;
  const { readOnlyHint, idempotentHint } = (annotations ?? {}) as Record<string, unknown>;
  const effect = readOnlyHint === true ? 'pure' : idempotentHint === true ? 'idempotent' : 'once';
  if (typeof name === 'string' && !isToolName(name))
    throw badTool(who, name, 'its name is not of letters, digits, _ and -, at most 64');
  const said = { name, ...(typeof description === 'string' && { description: description.slice(0, 8192) }), effect };
  return describedTool(
    who,
    { ...said, ...(inputSchema !== undefined && { parameters: inputSchema }) },
    place,
    timeoutSeconds,
  );
}

/** The tools of a server. Throws a ToolError if it does not begin. */
export async function describeServer(
  words: readonly string[],
  timeoutSeconds: number | null,
  log: Log,
): Promise<readonly ToolRecord[]> {
  const { process: server, tools } = await openServer(words, timeoutSeconds, log);
  server.close();
  return tools;
}

export interface McpDoorOptions {
  readonly log: Log;
  /** The words to run for this tool's server. Throws if this worker may not. */
  readonly permitted: (tool: ToolRecord, runFolder: string) => readonly string[];
  readonly hasEnded?: HasEnded;
  /** The longest wait for a call, on any clock. */
  readonly longestMs?: (timeoutMs: number) => number;
}

/** Keys of calls that ended their server, at most. */
const MOST_GUILTY = 10_000;

/** A server for the runs that use it. */
interface Opened {
  readonly served: Promise<Served>;
  /** Undefined while it begins. */
  process?: McpProcess;
}

export function mcpDoor({ log, permitted, hasEnded = async () => false, longestMs = mostMs }: McpDoorOptions): Door {
  /** Calls that ended their server alone: they get one of their own from then on. */
  const guilty = new Set<string>();
  let lastAlone: Promise<unknown> = Promise.resolve();
  const close = ({ served }: Opened) => served.then(({ process: server }) => server.close()).catch(() => undefined);
  const opened = openHeld<Opened>({ hasEnded, isUsed: ({ process: server }) => server?.inFlight !== 0, close });
  let closed = false;

  function drop(one: Opened): void {
    opened.forget(one);
    void close(one);
  }

  function open(words: readonly string[]): Opened {
    const one: Opened = { served: openServer(words, null, log) };
    one.served.then(
      ({ process: server }) => (one.process = server),
      () => opened.forget(one),
    );
    return one;
  }

  async function serverOf(
    tool: ToolRecord,
    words: readonly string[],
    runFolder: string,
  ): Promise<[Opened, McpProcess]> {
    const key = JSON.stringify([words, tool.fingerprint]);
    let one = opened.of(key, runFolder, () => open(words));
    if (one.process?.isOver) {
      opened.forget(one);
      one = opened.of(key, runFolder, () => open(words));
    }
    const { process: server, tools } = await one.served;
    try {
      mustBeSame(words, tool, tools);
    } catch (error) {
      drop(one);
      throw error;
    }
    return [one, server];
  }

  /** In a server of its own, one call after the other: guilt is found by calling alone. */
  function alone<T>(words: readonly string[], tool: ToolRecord, work: (server: McpProcess) => Promise<T>): Promise<T> {
    const mine = lastAlone.then(async () => {
      const { process: server, tools } = await openServer(words, null, log);
      try {
        mustBeSame(words, tool, tools);
        return await work(server);
      } finally {
        server.close();
      }
    });
    lastAlone = mine.catch(() => undefined);
    return mine;
  }

  return {
    async call(tool, { arguments: given, key: idempotency, signal, before }, runFolder) {
      const words = permitted(tool, runFolder);
      if (closed) throw new ToolError('The worker is ending.', { reason: 'tool-closed', retryable: true });
      const params = { name: tool.name, arguments: given, _meta: { 'everturn/key': idempotency } };
      const timeoutMs = tool.timeoutSeconds * 1000;
      const limits = { timeoutMs, longestMs: longestMs(timeoutMs), signal };
      const ask = (one: McpProcess) => one.request('tools/call', params, limits);
      let leave = (): void => undefined;
      try {
        if (guilty.has(idempotency)) {
          return answerOf(
            words,
            await alone(words, tool, async (one) => {
              await before();
              return ask(one);
            }),
          );
        }
        const [one, server] = await serverOf(tool, words, runFolder);
        // A server that hangs is not asked again.
        leave = () => void (server.inFlight === 0 && drop(one));
        await before();
        const result = ask(server).catch((error: unknown) => {
          if (!server.isOver || error instanceof RpcError || error instanceof RpcTimeout) throw error;
          if (server.endedWith <= 1 || tool.effect === 'once') {
            if (guilty.size >= MOST_GUILTY) guilty.clear();
            if (server.endedWith <= 1) guilty.add(idempotency);
            throw error;
          }
          // Another call may have ended it, and this one may be called twice.
          return alone(words, tool, ask).catch((again: unknown) => {
            guilty.add(idempotency);
            throw again;
          });
        });
        return answerOf(words, await result);
      } catch (error) {
        if (error instanceof RpcTimeout) {
          leave();
          return { text: `The tool ${tool.name} gave no result in ${tool.timeoutSeconds} s.`, outcome: 'timed-out' };
        }
        if (error instanceof RpcTooLarge)
          return { text: `The tool ${tool.name} gave more than is shown.`, outcome: 'failed' };
        // The server finds that the arguments do not fit: the model's fault.
        if (error instanceof RpcError && error.code === INVALID_PARAMS)
          return { text: error.message, outcome: 'failed' };
        if (!(error instanceof RpcError)) throw error;
        throw new ToolError(`The MCP server of ${tool.name} failed: ${error.message}`, {
          reason: 'tool-unavailable',
          retryable: true,
        });
      }
    },
    close() {
      closed = true;
      // One that is beginning is closed when it has begun.
      void opened.close();
    },
  };
}

function mustBeSame(words: readonly string[], tool: ToolRecord, tools: readonly ToolRecord[]): void {
  if (tools[0]?.fingerprint === tool.fingerprint || sameTool(tool, tools)) return;
  throw new ToolError(
    `The MCP server ${basename(words[0] ?? '')} has other tools than when the run was made: ${tool.name} is not the same.`,
    { reason: 'tool-mismatch', fix: 'Name its version in its command, as in "npx some-server@1.2.3".' },
  );
}

/** The time limit is the run's; all else must be equal. */
function sameTool(tool: ToolRecord, tools: readonly ToolRecord[]): boolean {
  const shown = ({ name, description, parameters, effect }: ToolRecord) =>
    JSON.stringify([name, description, parameters, effect]);
  return tools.some((one) => shown(one) === shown(tool));
}

/** The texts of a result; what is no text is named. */
function answerOf(words: readonly string[], result: unknown): ToolAnswer {
  const { content, structuredContent, isError } = (result ?? {}) as Record<string, unknown>;
  if (!Array.isArray(content) && structuredContent === undefined)
    throw new ToolError(`The MCP server ${basename(words[0] ?? '')} gave a result without \`content\`.`, {
      reason: 'tool-unavailable',
      retryable: true,
    });
  const parts = ((content ?? []) as unknown[]).map(partText);
  const text = parts.length > 0 ? parts.join('\n') : JSON.stringify(structuredContent ?? null);
  return { text, outcome: isError === true ? 'failed' : 'ok' };
}

function partText(part: unknown): string {
  const { type, text, data, mimeType, uri, resource } = (part ?? {}) as Record<string, unknown>;
  if (type === 'text') return String(text);
  const inner = (resource ?? {}) as Record<string, unknown>;
  if (type === 'resource' && typeof inner['text'] === 'string') return inner['text'];
  const size = typeof data === 'string' ? `, ${Math.floor((data.length * 3) / 4)} bytes` : '';
  const what = mimeType ?? uri ?? inner['uri'] ?? 'no text';
  return `[${short(String(type), 40)}: ${short(String(what), 200)}${size}]`;
}

function broken(who: string, problem: string): ToolError {
  return new ToolError(`The MCP server ${who} cannot be used: ${problem}.`, { reason: 'bad-tool' });
}
