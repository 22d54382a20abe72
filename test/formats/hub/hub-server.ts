// A server that speaks the API of the Hugging Face hub: metadata, pages of the tree, files with ranges, and large files at
// another address, to which it redirects. What it was asked is kept.

import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { listenHttp } from '../../support/http-listener.ts';

type Files = Readonly<Record<string, string | Uint8Array>>;

export interface HubServer {
  readonly url: string;
  /** The head commit. */
  readonly commit: string;
  /** `GET <path> <token>`, in order; of the storage `storage <token>`. */
  readonly asked: string[];
  /** Other files at `main`: another commit. */
  push(files: Files): string;
  /** Other bytes than it lists, for every file. */
  send(bytes: ((content: Buffer) => Buffer) | undefined): void;
  /** What it answers in place of everything. */
  refuse(status: number, headers?: Readonly<Record<string, string>>): void;
}

/** Larger ones are at the storage. */
const SMALL_BYTES = 300;
const hex = (algorithm: string, content: Uint8Array | string) => createHash(algorithm).update(content).digest('hex');
const gitOid = (content: Buffer) => hex('sha1', Buffer.concat([Buffer.from(`blob ${content.length}\0`), content]));

export async function hubServer(repo: string, first: Files): Promise<HubServer> {
  const asked: string[] = [];
  const commits = new Map<string, Map<string, Buffer>>();
  let head = '';
  let altered: ((content: Buffer) => Buffer) | undefined;
  let refusal: readonly [number, Readonly<Record<string, string>>] | undefined;
  const push = (files: Files) => {
    const contents = new Map(Object.entries(files).map(([name, content]) => [name, Buffer.from(content)]));
    head = hex('sha1', JSON.stringify([...contents]));
    commits.set(head, contents);
    return head;
  };
  push(first);
  const tokenOf = ({ headers }: IncomingMessage) => headers.authorization ?? 'no token';

  const storage = await listenHttp((request, reply) => {
    asked.push(`storage ${tokenOf(request)}`);
    const [, commit, name] = /^\/([0-9a-f]+)\/(.*)$/.exec(request.url!)!;
    sendPart(request, reply, commits.get(commit!)!.get(name!)!);
  });
  const hub = await listenHttp((request, reply) => {
    const url = new URL(request.url!, 'http://hub');
    const path = decodeURIComponent(url.pathname);
    asked.push(`${request.method} ${path} ${tokenOf(request)}`);
    if (refusal) return void reply.writeHead(refusal[0], refusal[1]).end('{"error":"no"}');
    const [, revision] = new RegExp(`^/api/datasets/${repo}/revision/(.+)$`).exec(path) ?? [];
    if (revision !== undefined) {
      const sha = revision === 'main' ? head : revision;
      if (commits.has(sha)) return void json(reply, { _id: 'x', id: repo, sha, private: false, gated: false });
      return void reply.writeHead(404, { 'x-error-code': 'RevisionNotFound' }).end();
    }
    const [, treeOf] = new RegExp(`^/api/datasets/${repo}/tree/(.+)$`).exec(path) ?? [];
    if (treeOf !== undefined) return sendTree(reply, url, commits.get(treeOf)!);
    const [, commit, name] = new RegExp(`^/datasets/${repo}/resolve/([^/]+)/(.+)$`).exec(path) ?? [];
    reply.setHeader('x-repo-commit', commit ?? '');
    const content = commits.get(commit ?? '')?.get(name ?? '');
    if (content === undefined) return void reply.writeHead(404, { 'x-error-code': 'RepoNotFound' }).end();
    if (content.length <= SMALL_BYTES) return sendPart(request, reply, content);
    const link = { location: `${storage.url}/${commit}/${name}`, 'x-linked-etag': `"${hex('sha256', content)}"` };
    reply.writeHead(302, { ...link, 'x-linked-size': content.length }).end();
  });
  onTestFinished(() => [hub, storage].forEach(({ close }) => close()));

  function sendTree(reply: ServerResponse, url: URL, contents: ReadonlyMap<string, Buffer>): void {
    const entries = [...contents].map(([path, content]) => ({
      ...{ type: 'file', path, size: content.length, oid: gitOid(content) },
      ...(content.length > SMALL_BYTES && {
        lfs: { oid: hex('sha256', content), size: content.length, pointerSize: 1 },
      }),
    }));
    const from = Number(url.searchParams.get('cursor') ?? 0);
    url.searchParams.set('cursor', String(from + 2));
    const next = `<${hub.url}${url.pathname}${url.search}>; rel="next"`;
    json(reply, entries.slice(from, from + 2), from + 2 < entries.length ? { link: next } : {});
  }
  function sendPart({ headers }: IncomingMessage, reply: ServerResponse, content: Buffer): void {
    const bytes = altered?.(content) ?? content;
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
    const etag = { etag: `"${gitOid(content)}"` };
    if (from === undefined) return void reply.writeHead(200, etag).end(bytes);
    const range = { 'content-range': `bytes ${from}-${to}/${bytes.length}` };
    reply.writeHead(206, { ...etag, ...range }).end(bytes.subarray(Number(from), Number(to) + 1));
  }
  return {
    ...{ url: hub.url, asked, push },
    get commit() {
      return head;
    },
    send: (bytes) => void (altered = bytes),
    refuse: (status, headers = {}) => void (refusal = [status, headers]),
  };
}

const json = (reply: ServerResponse, value: unknown, headers: Readonly<Record<string, string>> = {}) =>
  reply.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
