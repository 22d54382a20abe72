// Serves feeds over HTTP: `everturn feed` serves one run, the local service each run of its user. Every request needs the
// token, unless there is none, and on loopback a loopback Host; `feed-http.ts` has the limits.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UsageError } from '../../domain/errors/errors.ts';
import { BLOCKING_READS } from '../../records/disk/blocking-files.ts';
import { openFileStore } from '../../records/file-store.ts';
import { isLoopback, mustBeAllowed, pathOf, sendRefusal, verbOf } from './feed-http.ts';
import { openRunFeed, type RunFeedOptions } from './run-feed.ts';

interface Listening {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Null: none is asked for. */
  readonly token: string | null;
  readonly onError?: (error: unknown) => void;
}

export interface FeedServer {
  readonly url: string;
  close(): Promise<void>;
}

const MOST_CONNECTIONS = 256;

/** Serves one run's verbs at `/lease`, `/acknowledge` and so on. */
export function serveFeed(options: Listening & Omit<RunFeedOptions, 'store'>): Promise<FeedServer> {
  const { place } = options;
  // A row is five small files: read in this thread, they take a fifth of the processor time.
  const feed = openRunFeed({ ...options, store: openFileStore(place.out, place.run, { layer: BLOCKING_READS }) });
  return listen(options, (request, response) =>
    feed.answer(verbOf(pathOf(request), request.method), request, response),
  );
}

/** `answer` sees only requests that may be answered; what it throws is refused. */
export async function listen(
  { host, port, token, onError }: Listening,
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<FeedServer> {
  const server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, (request, response) => {
    const answered = async () => {
      mustBeAllowed(request, token, isLoopback(host));
      await answer(request, response);
    };
    answered().catch((error: unknown) => {
      if (!(error instanceof UsageError)) onError?.(error);
      sendRefusal(response, error);
    });
  });
  // Others on the machine may open connections; they must not take all that this process may have open.
  server.maxConnections = MOST_CONNECTIONS;
  server.listen(port, host);
  await once(server, 'listening');
  // One that could not be accepted: the others go on.
  server.on('error', (error) => onError?.(error));
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close').catch(() => undefined);
    },
  };
}
