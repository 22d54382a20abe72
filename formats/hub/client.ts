// Asks a hub by its official client. Whatever it refuses is an error that says what to do. The token goes to the hub's own
// address alone, never to where a file is redirected.

import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { EverturnError } from '../../domain/errors/errors.ts';
import { fetchWithin, forbiddenIn } from '../../local/machine/forbidden-address.ts';
import { isCommit, type HubPlace } from './place.ts';
import { refusalOf, unreachable } from './refusal.ts';
import type { HubSettings } from './settings.ts';

export interface HubFile {
  readonly name: string;
  /** As the hub lists it: SHA-256 of a large file, git's hash of a small one. */
  readonly oid: string;
}

export type Hub = Awaited<ReturnType<typeof openHub>>;

const fetchOfHub = fetchWithin(60_000);

export async function openHub(place: HubPlace, settings: HubSettings, signal?: AbortSignal) {
  const { datasetInfo, downloadFile, listFiles } = await import('@huggingface/hub');
  const { endpoint, token } = settings;
  let refusal: EverturnError | undefined;

  /** What is asked here is a GET. */
  const ask: typeof fetch = async (address, init) => {
    const url = new URL(address instanceof Request ? address.url : address);
    const headers = Object.fromEntries(new Headers(init?.headers));
    if (token !== undefined && url.origin === new URL(endpoint).origin) headers['authorization'] = `Bearer ${token}`;
    const reply = await fetchOfHub(url, { headers, ...(signal && { signal }) });
    if (reply.ok) return reply;
    await reply.body?.cancel();
    throw (refusal = refusalOf(reply, place, settings));
  };
  async function asking<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof EverturnError) throw error;
      // The client passes on the text alone of an error in a stream.
      throw refusal ?? forbiddenIn(error) ?? unreachable(place, settings, error);
    }
  }
  const of = { hubUrl: endpoint, fetch: ask };
  const repo = { type: 'dataset', name: place.repo } as const;
  const infoOf = { ...of, name: place.repo, revision: place.revision, additionalFields: ['sha' as const] };

  /** The commit of the revision, and its files. */
  async function list() {
    const commit = (await datasetInfo(infoOf)).sha;
    if (!isCommit(commit)) throw new Error('the hub names no commit');
    const files: HubFile[] = [];
    for await (const { type, path, oid, lfs } of listFiles({ ...of, repo, recursive: true, revision: commit }))
      if (type === 'file' && isInside(path)) files.push({ name: path, oid: hash(lfs?.oid ?? oid) });
    return { commit, files };
  }
  /** `check` sees the file before it gets its name. */
  async function load(path: string, revision: string, to: string, check: (file: string) => Promise<unknown>) {
    const blob = await downloadFile({ ...of, repo, path, revision, xet: false });
    const part = `${to}.${randomUUID()}.incomplete`;
    try {
      await pipeline(blob!.stream(), createWriteStream(part, { flags: 'wx' }));
      await check(part);
      await rename(part, to);
    } finally {
      await rm(part, { force: true });
    }
  }
  return { list: () => asking(list), load: (...file: Parameters<typeof load>) => asking(() => load(...file)) };
}

/** The names become paths in the cache. */
const isInside = (name: string): boolean =>
  !/[\\\0]/.test(name) && name.split('/').every((part) => !['', '.', '..'].includes(part));

function hash(oid = ''): string {
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(oid)) return oid;
  throw new Error('the hub lists a file without its hash');
}
