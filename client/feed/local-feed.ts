// The local service's feed: the verbs of every run that the service plays and its user may use, on loopback, at
// `/<run>/<verb>`, where <run> is a run's name or its folder, percent-encoded. Address and token are in a file of the
// service's home that only this user can read; both are new with each start. Leaves out runs of a cluster and those
// that the service's Temporal does not know: `everturn feed` serves them.

import { rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { hostname } from 'node:os';
import { UsageError } from '../../domain/errors/errors.ts';
import { isRunName } from '../../domain/names/ids.ts';
import { readPrivate, writePrivate } from '../../local/machine/private-file.ts';
import type { Home } from '../../local/service/home.ts';
import { touchService } from '../../local/service/idle.ts';
import { basename, join } from '../../records/place.ts';
import type { RunRecord } from '../../records/format/run-record.ts';
import type { Store } from '../../records/store.ts';
import type { Session } from '../temporal/connection.ts';
import { isSameFolder } from '../temporal/feed.ts';
import { describeWorkflow } from '../temporal/runs.ts';
import { newToken, pathOf, verbOf } from './feed-http.ts';
import { type FeedServer, listen } from './feed-server.ts';
import { openRunFeed, type RunFeed } from './run-feed.ts';

interface LocalFeedOptions {
  readonly home: Home;
  readonly session: Session;
  /** Throws if the user may not use that folder. */
  readonly openStore: (out: string, run: string) => Store;
  /** The user's own trainer names these weights. */
  readonly onWeights: (folder: string, record: RunRecord, weights: string) => void;
  readonly log: (line: string) => void;
}

/** Contents of the home's file. */
export interface LocalFeedFile {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  readonly host: string;
}

/** Runs whose server is remembered between two requests. */
const MOST_OPEN = 100;

export async function serveLocalFeeds(options: LocalFeedOptions): Promise<FeedServer> {
  const { home, session, openStore, onWeights, log } = options;
  const open = new Map<string, { readonly createdAt: number; readonly feed: RunFeed }>();
  const token = newToken();
  const onError = (error: unknown) => log(`the feed: ${error instanceof Error ? error.message : String(error)}`);
  const server = await listen({ host: '127.0.0.1', port: 0, token, onError }, answer);
  const said: LocalFeedFile = { url: server.url, token, pid: process.pid, host: hostname() };
  try {
    writePrivate(home.feedFile, `${JSON.stringify(said)}\n`);
  } catch (error) {
    await server.close();
    throw error;
  }
  return {
    url: server.url,
    async close() {
      // The next worker may have written its own by now.
      if (readPrivate(home.feedFile)?.includes(token)) rmSync(home.feedFile, { force: true });
      await server.close();
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    touchService(home);
    const path = pathOf(request);
    const slash = path.indexOf('/');
    const verb = verbOf(slash < 0 ? path : path.slice(slash + 1), request.method);
    if (slash < 0) throw noRun(path, `Call /<run>/${verb}, with the run's name or its folder, percent-encoded.`);
    await (await feedOf(decoded(path.slice(0, slash)))).answer(verb, request, response);
  }

  async function feedOf(named: string): Promise<RunFeed> {
    const isFolder = !isRunName(named);
    const run = isFolder ? basename(named) : named;
    if (!isRunName(run)) throw noRun(named);
    const { out } = await describeWorkflow(session, run);
    if (out === null || (isFolder && !isSameFolder(named, join(out, run)))) throw noRun(named);
    const store = openStore(out, run);
    const record = (await store.get('run'))?.record;
    if (!record) throw noRun(named);
    const { createdAt } = record;
    const known = open.get(store.folder);
    // A folder that was removed and made again is another run.
    if (known?.createdAt === createdAt) return known.feed;
    const feed = openRunFeed({
      ...{ place: { run, out, since: createdAt }, store, session: () => session },
      onWeights: (weights) => onWeights(store.folder, record, weights),
    });
    if (open.size >= MOST_OPEN) open.clear();
    open.set(store.folder, { createdAt, feed });
    return feed;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new UsageError('The path is not percent-encoded.', { reason: 'bad-value', fix: 'Encode the run’s folder.' });
  }
}

function noRun(named: string, fix?: string): UsageError {
  return new UsageError(`The local service plays no run ${JSON.stringify(named.slice(0, 200))}.`, {
    reason: 'no-such-run',
    fix: fix ?? '`everturn feed <run>` serves any run, also one of a cluster or of a folder that was moved.',
  });
}
