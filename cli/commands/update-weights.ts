// `everturn update-weights <run> --from DIR --weight-version N`: starts the workflow `updateWeights`, which gives every
// server of a run, or its embedded model, new weights while it goes on, and follows it to its end. The workflow goes on
// without this command. Repeat it after a failure: what was done is not done again, and what was left is finished.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { ModelError } from '../../domain/errors/errors.ts';
import { versionNumber } from '../../domain/weights/weight-version.ts';
import type { ServerUpdate, WeightsResult } from '../../domain/weights/weights.ts';
import { weightServers } from '../../inference/weights/index.ts';
import { realPath } from '../../local/permissions/folders.ts';
import { registeredRun, registerUpdate } from '../../local/permissions/registered.ts';
import { homeOf } from '../../local/service/home.ts';
import type { RolloutSettings } from '../../domain/rollout/settings.ts';
import { startUpdate, type StartedUpdate, updateProgress, updateResult } from '../../client/temporal/weights.ts';
import { command, flag, parsed, required, text, unusable } from '../command.ts';
import { EXIT } from '../exit.ts';
import { withLink } from '../find/link.ts';
import type { Link } from '../../local/service/link.ts';
import { findRun } from '../find/place.ts';
import type { RunPlace } from '../../run/place.ts';
import { silenceOf } from '../../run/require-worker.ts';
import { OF_RUN, RUN_ARGUMENT } from '../flags.ts';
import { type Io, say } from '../io.ts';
import { type Column, paintFor, plural, table } from '../format.ts';
import { untilClosed } from '../play/follow.ts';

/** `weightVersion`: the servers' label for the weights; `whole`: every server has the new ones and generates. */
export interface WeightUpdate extends Pick<WeightsResult, 'state' | 'servers'> {
  readonly run: string;
  readonly from: string;
  readonly weightVersion: string;
  readonly version: number;
  readonly whole: boolean;
}

export const updateWeights = command({
  args: RUN_ARGUMENT,
  flags: {
    ...OF_RUN,
    from: required(text('<dir>', 'the weights, in a folder that every server sees')),
    weightVersion: required(parsed('<n>', "the weights' version: a number, or a word", versionWord)),
    rewind: flag('the trainer goes back to an older version on purpose'),
    apiKeyEnv: text('<NAME>', "environment variable of the servers' key (default: the run's)"),
  },
  help: 'Example:\n  everturn update-weights my-run --from /checkpoints/step-7 --weight-version 7',
  async run(io, given) {
    const place = await findRun(io, given.run, given.out);
    const { run, out, store } = place;
    const { settings, train } = (await store.get('run'))!.record;
    const { model } = settings;
    if (train) {
      // Its clock would not follow.
      throw unusable(
        `Run "${run}" is paced by its feed, which alone publishes its weights.`,
        `Call \`version\` of the feed with the number and the folder: \`everturn feed ${run}\`, docs/feed.md.`,
        'not-allowed',
      );
    }
    const isEmbedded = weightServers(model) === null;
    const { apiKeyEnv: key, weightVersion: label } = given;
    const apiKeyEnv = key ?? ownKey(io, place, settings);
    const version = versionNumber(label);
    const weights = weightsFolder(io, given.from, isEmbedded);
    const input = {
      ...{ run, out, version, weights },
      // A version's number gives its label, also after a rewind.
      ...(label !== String(version) && { label }),
      ...(given.rewind && { rewind: true }),
      ...(key !== undefined && { apiKeyEnv: key }),
    };
    // Workers of this user believe that, and nothing that a workflow says of itself.
    registerUpdate(homeOf(io.env), { folder: store.folder, model, apiKeyEnv, weights });
    return withLink(io, async (link) => {
      const started = await startUpdate(link.session, input);
      const result = await followUpdate(io, link, started);
      if (result === 'detached') {
        say(io, `The update goes on; \`everturn status ${run}\` shows it.`);
        return EXIT.detached;
      }
      const { state, servers } = result;
      const whole = state === 'whole';
      const done: WeightUpdate = { run, from: weights, weightVersion: result.label, version, state, whole, servers };
      const embedded = `Run "${run}" is at version ${result.label}: each turn that begins now has it.`;
      const text = isEmbedded ? embedded : updateTable(io, servers);
      return { json: done, text, ...(!whole && { error: notWhole(done) }) };
    });
  },
});

/** A folder from elsewhere must not choose a variable of this user's, and the server that receives its value. */
function ownKey(io: Io, { run, store }: RunPlace, { model, apiKeyEnv }: RolloutSettings): string | null {
  if (apiKeyEnv === null) return null;
  const own = registeredRun(homeOf(io.env), realPath(store.folder) ?? store.folder);
  if (own?.model === model && own.apiKeyEnv === apiKeyEnv) return apiKeyEnv;
  throw unusable(
    `Run "${run}" uses the key in ${apiKeyEnv}, but none of your own commands here started it.`,
    `If its servers are yours, confirm it: --api-key-env ${apiKeyEnv}.`,
    'not-allowed',
  );
}

/** Versions are int32. */
const MAX_NUMBER = 2 ** 31 - 1;

/** Servers report the version, and every record stores it. */
function versionWord(given: string): string {
  const word = given.trim();
  if (/^\d{1,200}$/.test(word) && Number(word) > MAX_NUMBER) {
    throw unusable(
      `--weight-version ${word.slice(0, 40)} is above ${MAX_NUMBER}, the greatest that trainers store.`,
      `Give a number from 0 to ${MAX_NUMBER}, or a string that ends in one, as in step-7.`,
    );
  }
  if (/^[\x21-\x7e]{1,200}$/.test(word) && word !== 'default') return word;
  throw unusable(
    `--weight-version ${JSON.stringify(given)} cannot be a version.`,
    'Give a number, or a string that ends in one, as in step-7; `default` means weights that were never updated.',
  );
}

/** Servers may see folders that this machine does not: only what is here and wrong is refused. */
function weightsFolder(io: Io, named: string, isEmbedded: boolean): string {
  const folder = resolve(io.cwd, named);
  if (!existsSync(folder)) {
    say(io, `${oneLine(folder)} is not on this machine: the ${isEmbedded ? 'workers' : 'servers'} must have it.`);
    return folder;
  }
  const holds = (inner: string, pattern: RegExp) =>
    (statSync(inner, { throwIfNoEntry: false })?.isDirectory() ?? false) &&
    readdirSync(inner).some((name) => pattern.test(name));
  if (isEmbedded ? holds(join(folder, 'onnx'), /^model\.onnx$/) : holds(folder, WEIGHTS)) return folder;
  throw unusable(
    `--from ${named} holds no weights.`,
    isEmbedded
      ? 'It takes a folder with config.json and onnx/model.onnx, exported as the model of the run was.'
      : 'It takes a folder of *.safetensors, *.bin or *.pt, as trainers save it.',
    'no-weights',
  );
}

const WEIGHTS = /\.(safetensors|bin|pt|pth|gguf)$/;

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

const POLL_MS = 200;
const STILL_MS = 15_000;

/** Says of each server, once, how its part has ended. */
async function followUpdate(io: Io, link: Link, update: StartedUpdate): Promise<WeightsResult | 'detached'> {
  const said = new Set<string>();
  const tell = (servers: readonly ServerUpdate[]) => {
    for (const server of servers.filter(({ url }) => !said.has(url))) {
      said.add(server.url);
      say(io, serverLine(server));
    }
  };
  let warned = false;
  const end = await untilClosed(io, link, update.workflowId, {
    everyMs: POLL_MS,
    onStep: () => undefined,
    async look() {
      const progress = await updateProgress(link.session, update);
      tell(progress?.servers ?? []);
      return progress !== undefined;
    },
    async onSilence(sinceMs, error) {
      if (warned || io.now() - sinceMs <= STILL_MS) return;
      warned = true;
      say(io, `The update waits: ${error === undefined ? (await silenceOf(link)).fix : 'Temporal does not answer.'}`);
    },
  });
  if (end === 'detached') return end;
  const result = await updateResult(link.session, update);
  tell(result.servers);
  return result;
}
