// `everturn feed <run>`: serves the run's feed over HTTP until Ctrl-C. The run itself goes on without it.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { UsageError } from '../../domain/errors/errors.ts';
import { newToken } from '../../client/feed/feed-http.ts';
import { serveFeed } from '../../client/feed/feed-server.ts';
import { endWithParent, tellReady } from '../../local/machine/parent.ts';
import { writePrivate } from '../../local/machine/private-file.ts';
import { registerRun, registerUpdate } from '../../local/permissions/registered.ts';
import { homeOf } from '../../local/service/home.ts';
import { isShared } from '../../records/place.ts';
import { type FeedPlace, startFeed } from '../../client/temporal/feed.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { locateRun } from '../find/locate.ts';
import { openLink } from '../find/link.ts';
import { shortPath } from '../find/place.ts';
import { jsonOption, outOption } from '../flags.ts';
import { type Io, printJson, say } from '../io.ts';

interface Flags {
  readonly out: string;
  readonly host: string;
  readonly port: string;
  /** Commander's: false for --no-token. */
  readonly token: boolean;
  readonly json?: boolean;
  readonly untilStdinEnds?: boolean;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  command
    .argument('<run>', "a run's name, or its folder")
    .addOption(outOption())
    .addOption(new Option('--host <address>', 'the address to listen on').default('127.0.0.1'))
    .addOption(new Option('--port <n>', 'the port to listen on; 0 is any free one').default('0'))
    .addOption(new Option('--no-token', 'ask callers for no token'))
    .addOption(new Option('--until-stdin-ends', 'end when standard input ends: with the process that started this one'))
    .addOption(jsonOption('the address as JSON on stdout, everything else on stderr'))
    .addHelpText('after', HELP)
    .action(async (named: string, flags: Flags) => exit(await feed(io, named, flags)));
}

async function feed(io: Io, named: string, flags: Flags): Promise<ExitCode> {
  const port = Number(flags.port);
  if (!/^\d{1,5}$/.test(flags.port) || port > 65_535) {
    throw new UsageError(`--port is ${JSON.stringify(flags.port)}.`, {
      reason: 'bad-value',
      fix: 'It takes a whole number from 0 to 65535.',
    });
  }
  const place = await locateRun(io, named, flags.out);
  const { run, out, store } = place;
  const link = await openLink(io);
  try {
    const record = (await store.getRun())?.record;
    if (record) registerRun(homeOf(io.env), { folder: store.folder, ...record.settings });
    const feedPlace: FeedPlace = { run, out, since: record?.createdAt };
    await startFeed(link.session, feedPlace);
    const interrupted = io.interrupted();
    const onWeights = (weights: string) => {
      if (!record) return;
      const { model, apiKeyEnv } = record.settings;
      registerUpdate(homeOf(io.env), { folder: store.folder, model, apiKeyEnv, weights });
    };
    const token = flags.token ? newToken() : null;
    const server = await serveFeed({
      place: feedPlace,
      session: () => link.session,
      host: flags.host,
      port,
      token,
      onWeights,
      onError: (error) => say(io, error instanceof Error ? error.message : String(error)),
    }).catch((cause: unknown) => {
      throw new UsageError(
        `The feed cannot listen on ${flags.host}, port ${port}: ${String((cause as Error).message)}.`,
        {
          reason: 'bad-value',
          fix: '`--host` takes an address of this machine, `--port` one that is free; 0 is any free one.',
          cause,
        },
      );
    });
    // It holds a token: of a run in a bucket it stays on this machine.
    const near = isShared(store.folder) ? join(store.folder, '.feed') : join(homeOf(io.env).folder, 'feed', run);
    const file = join(near, 'server.json');
    writePrivate(file, `${JSON.stringify({ url: server.url, token, pid: process.pid })}\n`);
    say(io, `Feed       ${server.url}${token === null ? ' (asks for no token)' : ''}`);
    say(
      io,
      `${token === null ? 'Address   ' : 'Token     '} in ${shortPath(io, file)}; docs/feed.md has the verbs. Ctrl-C ends the server, not the run.`,
    );
    if (flags.json) printJson(io, { event: 'serving', run, url: server.url, file });
    tellReady();
    endWithParent(() => process.kill(process.pid, 'SIGTERM'));
    if (flags.untilStdinEnds) process.stdin.once('close', () => process.kill(process.pid, 'SIGTERM')).resume();
    while (!interrupted.aborted) {
      await sleep(KEEP_UP_MS, undefined, { signal: interrupted }).catch(() => undefined);
      if (!interrupted.aborted) await link.keepUp(() => {}).catch((error: unknown) => say(io, String(error)));
    }
    await server.close();
    await rm(file, { force: true });
    return EXIT.ok;
  } finally {
    await link.close();
  }
}

const KEEP_UP_MS = 20_000;

const HELP = `
Examples:
  everturn run data.jsonl --name first --samples 8 --epochs 100 --train --batch-groups 32 --detach
  everturn feed first`;
