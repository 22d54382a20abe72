// `everturn view`: serves the pages of all runs of a folder on 127.0.0.1 until Ctrl-C. Reads only, and needs no Temporal,
// unless it is started to steer.

import { spawn } from 'node:child_process';
import { setFlagsFromString } from 'node:v8';
import { explain } from '../../domain/errors/errors.ts';
import { newToken } from '../../client/feed/feed-http.ts';
import { resolvePlace } from '../../records/place.ts';
import { readEvaluation } from '../../records/run/evaluation-record.ts';
import { serverAssets, serveView } from '../../viewer/index.ts';
import { command, flag, portNumber, text, unusable, withDefault } from '../command.ts';
import { findRun } from '../find/place.ts';
import { shortPath } from '../../library/command-line.ts';
import type { RunPlace } from '../../run/place.ts';
import { costBy, PRICE_FLAGS } from '../find/prices.ts';
import { bundle, historyOf, mustBeTogether, openPages } from '../find/viewer.ts';
import { OUT } from '../flags.ts';
import { type Io, print, printJson, say } from '../io.ts';
import { steeringOf } from './act.ts';
import { evaluationPageOf, pageOf, serviceEnd } from '../play/viewer-beside.ts';

export const view = command({
  args: {
    '[runs...]':
      'the run, or the evaluation, to begin with: its name, or its folder; several runs are compared in one table',
  },
  flags: {
    out: OUT,
    port: withDefault(portNumber('the port on 127.0.0.1'), 0, 'any free one'),
    open: { no: 'open no browser', fallback: true },
    token: flag('ask for a token (default: with --steer)'),
    steer: flag('verdicts and notes from the page too; asks for a token'),
    by: text('<person>', "with --steer: whose acts they are (default: git's user.email, else this user)"),
    ...PRICE_FLAGS,
    withService: flag('end with the local service', { hidden: true }),
    json: flag('the address as one JSON object on stdout'),
  },
  help: 'Example:\n  everturn view my-run',
  async run(io, given) {
    const { runs: names, out: under, port, open, token: asksToken, steer, by, withService, json } = given;
    const folder = resolvePlace(io.cwd, under);
    const evaluation = names.length === 1 ? await readEvaluation(folder, names[0]!) : undefined;
    const places: RunPlace[] = [];
    for (const name of evaluation ? [] : names) places.push(await findRun(io, name, under));
    // The page names a run that cannot be read; one that is asked for is said at once.
    for (const { store } of places) await store.get('run');
    const out = places[0]?.out ?? folder;
    mustBeTogether(places);
    // It lives long beside the work that it shows: memory counts, not the last of the processor.
    setFlagsFromString('--heap-growing-percent=30');
    const interrupted = io.interrupted();
    const { runs, api } = openPages(io, out, {
      historyOf: (id) => historyOf(io.env, id),
      costOf: costBy(io, given),
    });
    if (by !== undefined && !steer) throw unusable('--by names the person who steers.', 'Give it with --steer.');
    const steering = steer ? await steeringOf(io, runs, by) : undefined;
    const server = await serveView({
      ...{ api, assets: serverAssets(bundle()), port },
      token: asksToken || steering ? newToken() : null,
      ...(steering && { steering }),
      onError: (error) => say(io, explain(error)),
    }).catch((error: unknown) => {
      throw portError(error as NodeJS.ErrnoException, port);
    });
    const page = evaluation ? evaluationPageOf(evaluation.name) : pageOf(places.map(({ run }) => run));
    const url = server.url + (steering ? `${page}?steer=${steering.key}` : names.length > 0 ? page : '');
    if (json) printJson(io, { url, folder: out });
    else print(io, `${url}\n`);
    say(io, `The viewer shows the runs in ${shortPath(io, out)}. Ctrl-C ends it.`);
    if (steering) say(io, 'Whoever has this address can record verdicts and notes: send it to nobody.');
    if (open && io.out.isTTY === true) openBrowser(io, url);
    if (withService) await serviceEnd(io.env, interrupted);
    else if (!interrupted.aborted)
      await new Promise((done) => interrupted.addEventListener('abort', done, { once: true }));
    runs.close();
    await server.close();
  },
});

function portError(error: NodeJS.ErrnoException, port: number): Error {
  const { code } = error;
  if (code !== 'EADDRINUSE' && code !== 'EACCES' && code !== 'ERR_SOCKET_BAD_PORT') return error;
  const why = code === 'EADDRINUSE' ? 'is taken' : 'cannot be used';
  return unusable(`Port ${port} of 127.0.0.1 ${why}.`, 'Leave --port out: any free one is taken.');
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
