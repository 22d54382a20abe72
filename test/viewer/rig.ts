// A folder with runs for tests of the viewer, its messages, and its server, all in this process.

import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandOf } from '../../viewer/model/steer.ts';
import { actsBy } from '../../cli/commands/act.ts';
import type { Query } from '../../domain/query/query.ts';
import type { Store } from '../../records/store.ts';
import { createApi } from '../../viewer/api.ts';
import { type Bundle, serverAssets } from '../../viewer/assets.ts';
import type { Asks } from '../../viewer/model/asks.ts';
import { openRuns, type Runs } from '../../viewer/runs.ts';
import { serveView, type ViewServer, type ViewServerOptions } from '../../viewer/server.ts';
import type { TokenDecoder } from '../../viewer/token-message.ts';
import { scriptedIo } from '../cli/scripted-io.ts';
import { openLoose } from '../records/ended-rig.ts';
import { aQuery, play, putRun, type Script } from '../records/play.ts';

export interface ViewRig {
  readonly out: string;
  readonly store: Store;
  readonly runs: Runs;
  readonly api: Asks;
  serve(token?: string | null, bundle?: Bundle, steering?: SteeredView): Promise<ViewServer>;
  close(): Promise<void>;
}

export type SteeredView = NonNullable<ViewServerOptions['steering']>;

export const QUERIES: readonly Query[] = ['a1', 'a2', 'a3', 'a4'].map((id) => aQuery(id));

/** Every way to end, one rollout that is open, and one query that has not begun. */
export const SCRIPTS: readonly Omit<Script, 'query'>[] = [
  { verdicts: ['wrong', 'right', 'right'] },
  { verdicts: ['right', 'wrong', 'right'] },
  { verdicts: ['wrong'], stop: 'failed' },
];

/** Read whole, as a page has them in the end: what a page has sooner depends on the machine. */
export function wholeRuns(out: string): Runs {
  const opened = openRuns(out);
  return {
    ...opened,
    async open(run) {
      const open = await opened.open(run);
      await open.index.refresh();
      return open;
    },
  };
}

export async function viewRig(decoder: TokenDecoder | string = 'no tokenizer here'): Promise<ViewRig> {
  const out = mkdtempSync(join(tmpdir(), 'everturn-view-'));
  const store = openLoose(out);
  const runs = wholeRuns(out);
  const api = createApi({ runs, decoderOf: () => Promise.resolve(decoder), now: () => 1_700_000_100_000 });
  const servers: ViewServer[] = [];
  return {
    out,
    store,
    runs,
    api,
    async serve(token = null, bundle = { script: 'console.log(1)', style: 'p{}' }, steering) {
      const server = await serveView({
        api,
        assets: serverAssets(bundle),
        port: 0,
        token,
        ...(steering && { steering }),
      });
      servers.push(server);
      return server;
    },
    async close() {
      for (const server of servers) await server.close();
      runs.close();
      rmSync(out, { recursive: true, force: true });
    },
  };
}

export async function playSome(store: Store): Promise<void> {
  await putRun(store, QUERIES);
  for (const [index, script] of SCRIPTS.entries()) await play(store, { query: QUERIES[index]!, index, ...script });
}

export const open = (store: Store, index: number, script: Omit<Script, 'query'>): Promise<void> =>
  play(store, { query: QUERIES[index]!, index, stop: null, ...script });

/** Acts as the command line does them, by ana; `commands` gets their words. */
export const steeredBy = ({ out, runs }: ViewRig, key: string, commands: (readonly string[])[]): SteeredView => ({
  key,
  has: runs.has,
  act(request) {
    commands.push(commandOf(request));
    const io = scriptedIo({ cwd: out, env: { EVERTURN_HOME: join(out, '.home') } });
    return actsBy(io, out, 'ana')(request);
  },
});

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** The address of a question of the pages. */
export const question = (name: keyof Asks, ...args: readonly unknown[]): string =>
  `/api/${name}?args=${encodeURIComponent(JSON.stringify(args))}`;

/** Node's fetch ignores a Host header and tidies paths; this sends what it is given. */
export function ask(
  server: Pick<ViewServer, 'url'>,
  path: string,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Reply> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, method, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(parts).toString('utf8'),
        }),
      );
    })
      .on('error', reject)
      .end(body);
  });
}
