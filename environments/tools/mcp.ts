// The door `mcp`: servers that speak the Model Context Protocol over standard input and output. One process per worker
// and server, shared by all rollouts: its tools must not keep a rollout's state. A failed tool is a result that the model
// is told; a server that is gone, or breaks the protocol, is an outage.

import { basename } from 'node:path';
import { z } from 'zod';
import { ToolError } from '../../domain/errors/errors.ts';
import { short } from '../../domain/text/foreign-text.ts';
import { ownName, type ToolRecord } from '../../domain/tools/tool.ts';
import type { Log } from '../processes/launch.ts';
import { type HasEnded, openHeld } from '../../local/machine/held.ts';
import type { Door } from './index.ts';
import { type McpProcess, RpcError, RpcTimeout, RpcTooLarge } from './mcp-process.ts';
import { mustBeSame, openServer, type Served } from './mcp-server.ts';
import { mostMs } from './running-clock.ts';
import type { ToolAnswer } from './tool.ts';

/** With `content`, or with a value alone. */
const RESULT = z.looseObject({
  content: z.array(z.unknown()).nullish(),
  structuredContent: z.unknown().optional(),
  isError: z.unknown().optional(),
});

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
      const params = { name: ownName(tool), arguments: given, _meta: { 'everturn/key': idempotency } };
      const timeoutMs = tool.timeoutSeconds * 1000;
      const limits = { timeoutMs, longestMs: longestMs(timeoutMs), signal };
      const ask = (one: McpProcess) => one.request('tools/call', params, RESULT, limits);
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
        // The server has answered: the outcome is known.
        if (error instanceof RpcError) return { text: error.message, outcome: 'failed' };
        throw error;
      }
    },
    close() {
      closed = true;
      // One that is beginning is closed when it has begun.
      void opened.close();
    },
  };
}

/** The texts of a result; what is no text is named. */
function answerOf(
  words: readonly string[],
  { content, structuredContent, isError }: z.infer<typeof RESULT>,
): ToolAnswer {
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
