// `everturn view`: serves the pages of all runs of a folder on 127.0.0.1 until Ctrl-C. Reads only, and needs no Temporal,
// unless it is started to steer.

import { spawn } from 'node:child_process';
import { setFlagsFromString } from 'node:v8';
import { type Command, Option } from 'commander';
import { explain, UsageError } from '../../domain/errors/errors.ts';
import type { RolloutId } from '../../domain/run/ids.ts';
import type { OnBreach } from '../../records/store.ts';
import { resolvePlace } from '../../records/place.ts';
import { createApi } from '../../viewer/api.ts';
import { serverAssets } from '../../viewer/assets.ts';
import { openExtras } from '../../viewer/extras.ts';
import { type OpenRun, openRuns } from '../../viewer/runs.ts';
import { serveView, type ViewServer } from '../../viewer/server.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { findRun, shortPath } from '../find/place.ts';
import { whole } from '../find/rollout.ts';
import { bundle, decoderOf, historyOf, prove, sampleOf } from '../find/viewer.ts';
import { jsonOption, outOption } from '../flags.ts';
import { steeringOf } from '../play/steering.ts';
import { serviceEnd } from '../play/viewer-beside.ts';
import { newToken } from '../../client/feed/feed-http.ts';
import { type Io, print, printJson, say } from '../io.ts';

interface Flags {
  readonly out: string;
  readonly port: string;
  readonly open: boolean;
  readonly token?: boolean;
  readonly steer?: boolean;
  readonly by?: string;
  readonly withService?: boolean;
  readonly json?: boolean;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  command
    .argument('[run]', 'the run to begin with: its name, or its folder')
    .addOption(outOption())
    .addOption(new Option('--port <n>', 'the port on 127.0.0.1').default('0', 'any free one'))
    .addOption(new Option('--no-open', 'open no browser'))
    .addOption(new Option('--token', 'ask for a token (default: with --steer)'))
    .addOption(
      new Option('--steer', 'verdicts, notes, forks, messages, retries and pauses from the page too; asks for a token'),
    )
    .addOption(
      new Option('--by <person>', "with --steer: whose acts they are (default: git's user.email, else this user)"),
    )
    .addOption(new Option('--with-service', 'end with the local service').hideHelp())
    .addOption(jsonOption('the address as one JSON object on stdout'))
    .addHelpText('after', '\nExample:\n  everturn view my-run')
    .action(async (named: string | undefined, flags: Flags) => exit(await view(io, named, flags)));
}

async function view(io: Io, named: string | undefined, flags: Flags): Promise<ExitCode> {
  const place = named === undefined ? undefined : await findRun(io, named, flags.out);
  // The page names a run that cannot be read; one that is asked for is said at once.
  await place?.store.getRun();
  const out = place?.out ?? resolvePlace(io.cwd, flags.out);
  const port = whole('--port', flags.port, 0);
  // It lives long beside the work that it shows: memory counts, not the last of the processor.
  setFlagsFromString('--heap-growing-percent=30');
  const interrupted = io.interrupted();
  const runs = openRuns(out);
  const { now } = io;
  const history = (id: RolloutId) => historyOf(io.env, id);
  const api = createApi({ runs, decoderOf: (run) => decoderOf(run, io.cwd), historyOf: history, now });
  const proof = (open: OpenRun, onBreach: OnBreach) => prove(open, io, out, onBreach);
  const extras = openExtras({ runs, sampleOf, prove: proof, now });
  if (flags.by !== undefined && flags.steer !== true) {
    throw new UsageError('--by names the person who steers.', { reason: 'bad-value', fix: 'Give it with --steer.' });
  }
  const steering = flags.steer === true ? await steeringOf(io, runs, flags.by) : undefined;
  const token = flags.token === true || steering ? newToken() : null;
  const server = await listen(port, () =>
    serveView({
      ...{ api, extras, assets: serverAssets(bundle()), port, token },
      ...(steering && { steering }),
      onError: (error) => say(io, explain(error)),
    }),
  );
  const page = place === undefined ? '#/' : `#/run/${encodeURIComponent(place.run)}`;
  const hash = steering ? `${page}?steer=${steering.key}` : place ? page : '';
  const url = server.url + hash;
  if (flags.json === true) printJson(io, { url, folder: out });
  else print(io, `${url}\n`);
  say(io, `The viewer shows the runs in ${shortPath(io, out)}. Ctrl-C ends it.`);
  if (steering) say(io, 'Whoever has this address can record verdicts, and start and end runs: send it to nobody.');
  if (flags.open && io.out.isTTY === true) openBrowser(io, url);
  if (flags.withService === true) await serviceEnd(io.env, interrupted);
  else if (!interrupted.aborted)
    await new Promise((done) => interrupted.addEventListener('abort', done, { once: true }));
  runs.close();
  await server.close();
  return EXIT.ok;
}

async function listen(port: number, serve: () => Promise<ViewServer>): Promise<ViewServer> {
  try {
    return await serve();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE' && code !== 'EACCES' && code !== 'ERR_SOCKET_BAD_PORT') throw error;
    const why = code === 'EADDRINUSE' ? 'is taken' : 'cannot be used';
    throw new UsageError(`Port ${port} of 127.0.0.1 ${why}.`, {
      reason: 'bad-value',
      fix: 'Leave --port out: any free one is taken.',
    });
  }
}

/** A browser that cannot be opened is no error: the address is on the screen. */
function openBrowser(io: Io, url: string): void {
  const linux = io.env['DISPLAY'] ?? io.env['WAYLAND_DISPLAY'];
  const program =
    process.platform === 'darwin' ? 'open' : process.platform === 'linux' && linux ? 'xdg-open' : undefined;
  if (program === undefined || io.env['CI'] !== undefined) return;
  spawn(program, [url], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}
