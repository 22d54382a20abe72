// `everturn update-weights <run> --from|--adapter DIR --weight-version N`: gives every server of a run, or its embedded model, new weights
// while it goes on. The update goes on without this command.

import { oneLine } from '../../domain/text/foreign-text.ts';
import { ModelError } from '../../domain/errors/errors.ts';
import type { ServerUpdate } from '../../domain/weights/weights.ts';
import { updateWeightsOf, type WeightUpdate } from '../../library/update-weights.ts';
import { command, flag, required, text } from '../command.ts';
import { EXIT } from '../exit.ts';
import { findRun } from '../find/place.ts';
import { OF_RUN, RUN_ARGUMENT } from '../flags.ts';
import { type Io, say } from '../io.ts';
import { type Column, paintFor, plural, table } from '../format.ts';
import { callerOf } from '../play/say-event.ts';

export const updateWeights = command({
  args: RUN_ARGUMENT,
  flags: {
    ...OF_RUN,
    from: text('<dir>', 'the weights, in a folder that every server sees'),
    adapter: text('<dir>', "in place of --from: an adapter of the run's model"),
    weightVersion: required(text('<n>', "the weights' version: a number, or a word")),
    rewind: flag('the trainer goes back to an older version on purpose'),
    apiKeyEnv: text('<NAME>', "environment variable of the servers' key (default: the run's)"),
  },
  help: 'Example:\n  everturn update-weights my-run --from /checkpoints/step-7 --weight-version 7',
  async run(io, given) {
    const place = await findRun(io, given.run, given.out);
    const caller = {
      ...callerOf(io),
      // Asked for once the update goes on: from then on Ctrl-C detaches.
      get signal() {
        return io.interrupted();
      },
    };
    const onServer = (server: ServerUpdate) => say(io, serverLine(server));
    const done = await updateWeightsOf(place, caller, { ...given, onServer });
    if (!done) {
      say(io, `The update goes on; \`everturn status ${place.run}\` shows it.`);
      return EXIT.detached;
    }
    const { run, weightVersion, servers, whole } = done;
    // An embedded model has none: each worker loads the version before its next turn.
    const embedded = `Run "${run}" is at version ${weightVersion}: each turn that begins now has it.`;
    const text = servers.length === 0 ? embedded : updateTable(io, servers);
    return { json: done, text, ...(!whole && { error: notWhole(done) }) };
  },
});

const SAID: Readonly<Record<ServerUpdate['state'], string>> = {
  updated: 'has the new weights, and goes on',
  already: 'had that version already; it goes on',
  refused: 'refused, and goes on with the weights it had',
  unsure: 'may have either weights: it goes on under a label of its own, and the run does not use it',
  paused: 'MAY STILL BE PAUSED: it could not be told to continue',
  unreached: 'could not be reached; it gets the version when it comes back',
  'not-asked': 'was not asked',
};

function serverLine({ url, state, error }: ServerUpdate): string {
  return oneLine(`${url} ${SAID[state]}${error === null ? '.' : `: ${error}`}`);
}

const hasIt = ({ state }: ServerUpdate): boolean => state === 'updated' || state === 'already';

export function updateTable(io: Io, servers: readonly ServerUpdate[]): string {
  const word = (version: string | null) => oneLine(version ?? '–');
  const columns: Column<ServerUpdate>[] = [
    ['server', ({ url }) => oneLine(url)],
    ['before', ({ before }) => word(before)],
    ['now', ({ state, now }) => (state === 'paused' ? '?' : word(now))],
    ['took', ({ tookMs }) => `${(tookMs / 1000).toFixed(2)} s`],
    ['', ({ state }) => state, (server) => (hasIt(server) ? 'green' : 'red')],
  ];
  return table(servers, columns, paintFor(io.out, io.env));
}

/** The next step for the user depends on whether a server waits. */
function notWhole({ run, from, weightVersion, servers, state }: WeightUpdate): ModelError {
  const have = servers.filter(hasIt).length;
  const paused = servers.flatMap((server) => (server.state === 'paused' ? [server.url] : []));
  const what =
    state === 'superseded'
      ? `A later update of run "${run}" has taken the place of version ${weightVersion}`
      : `Of run "${run}", ${have} of ${plural(servers.length, 'server')} have version ${weightVersion}`;
  const silent = paused.length > 0 ? `; ${paused.join(', ')} makes no token until it is updated or restarted` : '';
  return new ModelError(what + silent, {
    reason: 'weights-not-updated',
    fix: `Every token has its version. Fix the errors above about ${oneLine(from)} and the servers, and repeat the command: updated servers are only resumed.`,
  });
}
