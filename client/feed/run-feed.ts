// Answers the verbs of one run's feed over HTTP: docs/feed.md. Holds no state: what it answers is in the feed's workflow and
// in the run's folder, so any number of them may serve one run, and each may be killed at any time.

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { TemporalError, UsageError } from '../../domain/errors/errors.ts';
import type { GrantedLease, LeaseArguments, LeaseResult, Verb } from '../../domain/feed/messages.ts';
import { oldAnswers } from '../../records/reading/group-members.ts';
import type { Store } from '../../records/store.ts';
import type { Session } from '../temporal/connection.ts';
import { callFeed, type FeedPlace, feedProgressOf } from '../temporal/feed.ts';
import { pathOf, readVerbArguments } from './feed-http.ts';
import { openBatch, type RunShape } from './feed-rows.ts';

export interface RunFeedOptions {
  readonly place: FeedPlace;
  readonly store: Store;
  /** Asked for with each request: a local service may be replaced. */
  readonly session: () => Session;
  /** Before a version is published: its caller has the token, so the workers of this user may load its weights. */
  readonly onWeights?: (folder: string) => void;
}

export interface RunFeed {
  /** Throws what is to be refused. */
  answer(verb: Verb | 'status' | 'experts', request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/** One Update waits so long at most; then it is asked again. */
const SLICE_SECONDS = 20;
const TRIES = 6;
const LOADING_MS = 30 * 60_000;

export function openRunFeed({ place, store, session, onWeights }: RunFeedOptions): RunFeed {
  let shape: RunShape | undefined;

  return {
    async answer(verb, request, response) {
      response.setHeader('everturn-protocol', '1');
      if (verb === 'status') return json(response, (await feedProgressOf(session(), place)) ?? null);
      if (verb === 'experts') return sendExperts(request, response);
      const given = await readVerbArguments(verb, request);
      const folder = given['weights'] ?? given['adapter'];
      if (verb === 'version' && typeof folder === 'string') onWeights?.(folder);
      // Weights take as long as the servers take to load them.
      const waitMs = verb === 'version' ? LOADING_MS : 0;
      // Asked again by `call`, a request gets the same lease, and begins no other line.
      const isNamed = verb === 'lease' || verb === 'rewind';
      const named = isNamed ? { ...given, request: given['request'] ?? randomUUID() } : given;
      if (verb !== 'lease') {
        const answer = await call<object>(verb, named, waitMs);
        const warning = verb === 'version' ? await oldAnswers(store).catch(() => null) : null;
        return json(response, warning === null ? answer : { ...answer, warning });
      }
      const wanted = named as unknown as LeaseArguments;
      const granted = await leaseFor(wanted, response);
      if (granted.lease === null) return json(response, granted);
      try {
        await sendBatch(granted.lease, wanted.max_token_gap ?? null, response);
      } catch (error) {
        // Nobody has its rows: the groups are for others at once.
        await call('lease', { ...wanted, wait: 0, seconds: 0.1 }).catch(() => undefined);
        throw error;
      }
    },
  };

  /** Repeating any verb is harmless, so a server that is away for a moment is asked again. */
  async function call<T>(verb: Verb, given: object, waitMs = 0): Promise<T> {
    for (let n = 1; ; n++) {
      try {
        return await callFeed<T>(session(), place, verb, given, waitMs);
      } catch (error) {
        const opens = error instanceof UsageError && error.reason === 'feed-busy' && verb !== 'lease';
        if ((!opens && !(error instanceof TemporalError)) || n >= TRIES) throw error;
        await sleep(250 * 2 ** n);
      }
    }
  }

  async function leaseFor(given: LeaseArguments, response: ServerResponse): Promise<LeaseResult> {
    const until = Date.now() + (given.wait ?? 0) * 1000;
    for (;;) {
      const wait = Math.max(0, Math.min(SLICE_SECONDS, (until - Date.now()) / 1000));
      const result = await call<LeaseResult>('lease', { ...given, wait }, wait * 1000).catch(ifBusy);
      const isOver = result.lease !== null || result.why === 'finished' || Date.now() >= until;
      if (isOver || response.destroyed) return result;
    }
  }

  async function ifBusy(error: unknown): Promise<LeaseResult> {
    if (!(error instanceof UsageError) || error.reason !== 'feed-busy') throw error;
    await sleep(500);
    return { lease: null, why: 'waiting' };
  }

  /** The bytes of a file that a row names, proved by its name. */
  async function sendExperts(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, sha256, bytes] = /([0-9a-f]{64})-(\d+)\.gz$/.exec(pathOf(request))!;
    const data = await store.readExperts({ sha256: sha256!, bytes: Number(bytes) });
    if (!data) {
      const fix = 'Name a file by the path that a row of this run gives.';
      throw new UsageError('The run has no such file of experts.', { reason: 'no-such-path', fix });
    }
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': data.length });
    response.end(data);
  }

  async function sendBatch(lease: GrantedLease, gap: number | null, response: ServerResponse): Promise<void> {
    shape ??= await shapeOf();
    const batch = await openBatch(store, shape, lease, gap);
    const { id, until, version, trainedAt, line } = lease;
    response.writeHead(200, { 'content-type': 'application/jsonl' });
    const head = { lease: id, groups: batch.groups, rows: batch.rows, until, version, trained_at: trainedAt, line };
    await write(response, `${JSON.stringify(head)}\n`);
    for await (const row of batch.lines()) await write(response, row);
    response.end();
  }

  async function shapeOf(): Promise<RunShape> {
    const samples = (await store.get('run'))?.record.samples ?? 1;
    return { run: place.run, queries: await store.countQueries(), samples };
  }
}

async function write(response: ServerResponse, text: string): Promise<void> {
  if (response.destroyed) throw new Error('The consumer has gone.');
  if (response.write(text)) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      for (const event of ['drain', 'close']) response.off(event, done);
      resolve();
    };
    for (const event of ['drain', 'close']) response.on(event, done);
  });
}

function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(value)}\n`);
}
