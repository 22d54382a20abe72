// The MCP servers of one worker: one process for each server, shared by the runs that use it, and one alone for a call that
// ended its server.

import { type HasEnded, openSharedResources } from '../../local/machine/shared-resources.ts';
import type { ToolRecord } from '../../domain/tools/tool.ts';
import type { Log } from '../processes/launch.ts';
import type { McpProcess } from './mcp-process.ts';
import { mustBeRecordedTool, openMcpServer, type Served } from './mcp-server.ts';

/** A server for the runs that use it. */
interface Opened {
  readonly served: Promise<Served>;
  /** Undefined while it begins. */
  process?: McpProcess;
}

export interface McpServers {
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

export function openMcpServers(log: Log, hasEnded: HasEnded): McpServers {
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
