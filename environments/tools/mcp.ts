// The door `mcp`: servers that speak the Model Context Protocol over standard input and output. One process per worker
// and server, shared by all rollouts: its tools must not keep a rollout's state. A failed tool is a result that the model
// is told; a server that is gone, or breaks the protocol, is an outage.

import { basename } from 'node:path';
import { z } from 'zod';
import { ToolError } from '../../domain/errors/errors.ts';
import { short } from '../../domain/text/foreign-text.ts';
import { ownName, type ToolRecord } from '../../domain/tools/tool.ts';
import type { Log } from '../processes/launch.ts';
import { type HasEnded, openSharedResources } from '../../local/machine/shared-resources.ts';
import type { Door } from './index.ts';
import { type McpProcess, RpcError, RpcTimeout, RpcTooLarge, mostMs } from './mcp-process.ts';
import type { ToolAnswer } from './tool.ts';
import { mustBeRecordedTool, openMcpServer, type Served } from './mcp-server.ts';

/** A result has `content`, or a value alone. */
const RESULT = z.looseObject({
  content: z.array(z.unknown()).nullish(),
  structuredContent: z.unknown().optional(),
  isError: z.unknown().optional(),
});

interface McpDoorOptions {
  readonly log: Log;
  /** The words to run for this tool's server. Throws if this worker may not. */
  readonly permitted: (tool: ToolRecord, runFolder: string) => readonly string[];
  readonly hasEnded?: HasEnded;
  /** The longest wait for a call, on any clock. */
  readonly longestMs?: (timeoutMs: number) => number;
}

/** Keys of calls that ended their server, at most. */
const MOST_GUILTY = 10_000;

export function mcpDoor({ log, permitted, hasEnded = async () => false, longestMs = mostMs }: McpDoorOptions): Door {
  const servers = openMcpServers(log, hasEnded);
  /** Calls that ended their server alone: they get one of their own from then on. */
  const guilty = new Set<string>();
  let closed = false;

  return {
    async call(tool, { arguments: args, key, signal, before }, runFolder) {
      const words = permitted(tool, runFolder);
      if (closed) throw new ToolError('The worker is ending.', { reason: 'tool-closed', retryable: true });
      const params = { name: ownName(tool), arguments: args, _meta: { 'everturn/key': key } };
      const timeoutMs = tool.timeoutSeconds * 1000;
      const limits = { timeoutMs, longestMs: longestMs(timeoutMs), signal };
      const ask = (server: McpProcess) => server.request('tools/call', params, RESULT, limits);
      const askAlone = async (server: McpProcess) => {
        await before();
        return ask(server);
      };
      try {
        const result = guilty.has(key)
          ? await servers.alone(tool, words, askAlone)
          : await askShared(servers, guilty, { tool, words, runFolder, key, before, ask });
        return answerOf(words, result);
      } catch (error) {
        return answerToFailure(tool, error);
      }
    },
    close() {
      closed = true;
      servers.close();
    },
  };
}

type Result = z.infer<typeof RESULT>;

interface SharedCall {
  readonly tool: ToolRecord;
  readonly words: readonly string[];
  readonly runFolder: string;
  readonly key: string;
  readonly before: () => Promise<void>;
  readonly ask: (server: McpProcess) => Promise<Result>;
}

/** A call to the server that others use too. Where the server ends, and the call may be made twice, it is made again alone. */
async function askShared(servers: McpServers, guilty: Set<string>, call: SharedCall): Promise<Result> {
  const { tool, words, key, ask } = call;
  const { server, drop } = await servers.shared(tool, words, call.runFolder);
  try {
    await call.before();
    return await ask(server).catch((error: unknown) => {
      if (!server.isOver || error instanceof RpcError || error instanceof RpcTimeout) throw error;
      if (server.endedWith <= 1 || tool.effect === 'once') {
        if (guilty.size >= MOST_GUILTY) guilty.clear();
        if (server.endedWith <= 1) guilty.add(key);
        throw error;
      }
      // Another call may have ended it, and this one may be called twice.
      return servers.alone(tool, words, ask).catch((again: unknown) => {
        guilty.add(key);
        throw again;
      });
    });
  } catch (error) {
    // A server that hangs is not asked again.
    if (error instanceof RpcTimeout && server.inFlight === 0) drop();
    throw error;
  }
}

/** The answer where the outcome is known; else the error is thrown. */
function answerToFailure({ name, timeoutSeconds }: ToolRecord, error: unknown): ToolAnswer {
  if (error instanceof RpcTimeout)
    return { text: `The tool ${name} gave no result in ${timeoutSeconds} s.`, outcome: 'timed-out' };
  if (error instanceof RpcTooLarge) return { text: `The tool ${name} gave more than is shown.`, outcome: 'failed' };
  // The server has answered.
  if (error instanceof RpcError) return { text: error.message, outcome: 'failed' };
  throw error;
}

/** The texts of a result; what is no text is named. */
function answerOf(words: readonly string[], { content, structuredContent, isError }: Result): ToolAnswer {
  if (!content && structuredContent === undefined)
    throw new ToolError(`The MCP server ${basename(words[0] ?? '')} gave a result without \`content\`.`, {
      reason: 'tool-unavailable',
      retryable: true,
    });
  const parts = (content ?? []).map(partText);
  const isText = parts.length > 0 || structuredContent === undefined;
  const text = isText ? parts.join('\n') : JSON.stringify(structuredContent);
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

/** A server for the runs that use it. */
interface Opened {
  readonly served: Promise<Served>;
  /** Undefined while it begins. */
  process?: McpProcess;
}

interface McpServers {
  /** The server that runs share; opened again if it is over. `drop` closes it, and the next call opens another one. */
  shared(
    tool: ToolRecord,
    words: readonly string[],
    runFolder: string,
  ): Promise<{ readonly server: McpProcess; readonly drop: () => void }>;
  /** Calls a server of the call's own, one call after the other: guilt is found by calling alone. */
  alone<T>(tool: ToolRecord, words: readonly string[], work: (server: McpProcess) => Promise<T>): Promise<T>;
  close(): void;
}

function openMcpServers(log: Log, hasEnded: HasEnded): McpServers {
  let lastAlone: Promise<unknown> = Promise.resolve();
  const close = ({ served }: Opened) => served.then(({ process: server }) => server.close()).catch(() => undefined);
  const opened = openSharedResources<Opened>({
    hasEnded,
    isUsed: ({ process: server }) => server?.inFlight !== 0,
    close,
  });

  function open(words: readonly string[]): Opened {
    const one: Opened = { served: openMcpServer(words, null, log) };
    one.served.then(
      ({ process: server }) => (one.process = server),
      () => opened.forget(one),
    );
    return one;
  }

  return {
    async shared(tool, words, runFolder) {
      const key = JSON.stringify([words, tool.fingerprint]);
      let one = opened.of(key, runFolder, () => open(words));
      if (one.process?.isOver) {
        opened.forget(one);
        one = opened.of(key, runFolder, () => open(words));
      }
      const drop = () => {
        opened.forget(one);
        void close(one);
      };
      const { process: server, tools } = await one.served;
      try {
        mustBeRecordedTool(words, tool, tools);
      } catch (error) {
        drop();
        throw error;
      }
      return { server, drop };
    },
    alone(tool, words, work) {
      const mine = lastAlone.then(async () => {
        const { process: server, tools } = await openMcpServer(words, null, log);
        try {
          mustBeRecordedTool(words, tool, tools);
          return await work(server);
        } finally {
          server.close();
        }
      });
      lastAlone = mine.catch(() => undefined);
      return mine;
    },
    // A server that is beginning is closed when it has begun.
    close: () => void opened.close(),
  };
}
