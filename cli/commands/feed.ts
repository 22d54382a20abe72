// `everturn feed <run>`: serves the run's feed over HTTP until Ctrl-C. The run itself goes on without it.

import { withLink } from '../../local/service/link.ts';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newToken } from '../../client/feed/feed-http.ts';
import { serveFeed } from '../../client/feed/feed-server.ts';
import { endWithParent, tellReady } from '../../local/machine/parent.ts';
import { writePrivate } from '../../local/machine/private-file.ts';
import { registerRun, registerUpdate } from '../../local/permissions/registered.ts';
import { homeOf } from '../../local/service/home.ts';
import { isOnDisk } from '../../records/place.ts';
import { type FeedPlace, startFeed } from '../../client/temporal/feed.ts';
import { command, flag, portNumber, text, unusable, withDefault } from '../command.ts';
import { aroundOf, locateRun } from '../find/place.ts';
import { shortPath } from '../../library/command-line.ts';
import { OUT, RUN_ARGUMENT } from '../flags.ts';
import { printJson, say } from '../io.ts';

const KEEP_UP_MS = 20_000;

export const feed = command({
  args: RUN_ARGUMENT,
  flags: {
    out: OUT,
    host: withDefault(text('<address>', 'the address to listen on'), '127.0.0.1'),
    port: withDefault(portNumber('the port to listen on; 0 is any free one'), 0),
    token: { no: 'ask callers for no token', fallback: true },
    untilStdinEnds: flag('end when standard input ends: with the process that started this one'),
    json: flag('the address as JSON on stdout, everything else on stderr'),
  },
  help: `Examples:
  everturn run data.jsonl --name first --samples 8 --epochs 100 --train --batch-groups 32 --detach
  everturn feed first`,
  async run(io, given) {
    const { host, port } = given;
    const { run, out, store } = await locateRun(io, given.run, given.out);
    const home = homeOf(io.env);
    await withLink(aroundOf(io), async (link) => {
      const record = (await store.get('run'))?.record;
      if (record) registerRun(home, { folder: store.folder, ...record.settings });
      const place: FeedPlace = { run, out, since: record?.createdAt };
      await startFeed(link.session, place);
      const interrupted = io.interrupted();
      const token = given.token ? newToken() : null;
      const server = await serveFeed({
        ...{ place, host, port, token },
        session: () => link.session,
        onWeights(weights) {
          if (!record) return;
          const { model, apiKeyEnv } = record.settings;
          registerUpdate(home, { folder: store.folder, model, apiKeyEnv, weights });
        },
        onError: (error) => say(io, error instanceof Error ? error.message : String(error)),
      }).catch((cause: unknown) => {
        throw unusable(
          `The feed cannot listen on ${host}, port ${port}: ${String((cause as Error).message)}.`,
          '`--host` takes an address of this machine, `--port` one that is free; 0 is any free one.',
          'bad-value',
          cause,
        );
      });
      // It holds a token: of a run in a bucket it stays on this machine.
      const near = isOnDisk(store.folder) ? join(store.folder, '.feed') : join(home.folder, 'feed', run);
      const file = join(near, 'server.json');
      writePrivate(file, `${JSON.stringify({ url: server.url, token, pid: process.pid })}\n`);
      const [open, what] = token === null ? [' (asks for no token)', 'Address   '] : ['', 'Token     '];
      say(io, `Feed       ${server.url}${open}`);
      say(io, `${what} in ${shortPath(io, file)}; docs/feed.md has the verbs. Ctrl-C ends the server, not the run.`);
      if (given.json) printJson(io, { event: 'serving', run, url: server.url, file });
      tellReady();
      const end = () => process.kill(process.pid, 'SIGTERM');
      endWithParent(end);
      if (given.untilStdinEnds) process.stdin.once('close', end).resume();
      while (!interrupted.aborted) {
        await sleep(KEEP_UP_MS, undefined, { signal: interrupted }).catch(() => undefined);
        if (!interrupted.aborted) await link.keepUp(() => {}).catch((error: unknown) => say(io, String(error)));
      }
      await server.close();
      await rm(file, { force: true });
    });
  },
});
