// `everturn update-weights <run> --from DIR --weight-version N`: starts the workflow `updateWeights`, which gives every
// server of a run, or its embedded model, new weights while it goes on, and follows it to its end. The workflow goes on
// without this command. Repeat it after a failure: what was done is not done again, and what was left is finished.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { type Command, Option } from 'commander';
import { ModelError, UsageError } from '../../domain/errors/errors.ts';
import { versionNumber } from '../../domain/weights/weight-version.ts';
import type { ServerUpdate, WeightsState } from '../../domain/weights/weights.ts';
import { weightServers } from '../../inference/weights/index.ts';
import { realPath } from '../../local/permissions/folders.ts';
import { registeredRun, registerUpdate } from '../../local/permissions/registered.ts';
import { homeOf } from '../../local/service/home.ts';
import { startUpdate } from '../../client/temporal/weights.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { openLink } from '../find/link.ts';
import { plural } from '../view/format.ts';
import { type Io, print, printJson, say } from '../io.ts';
import { paintFor } from '../view/paint.ts';
import { findRun, type RunPlace } from '../find/place.ts';
import { followUpdate } from '../play/follow-update.ts';
import { steerArguments, type SteerFlags } from '../play/steer.ts';
import { table } from '../view/table.ts';

interface Flags extends SteerFlags {
  readonly from: string;
  readonly weightVersion: string;
  readonly rewind?: boolean;
  readonly apiKeyEnv?: string;
}

export interface WeightUpdate {
  readonly run: string;
  readonly from: string;
  /** The servers' label for the weights, and the number that records hold for it. */
  readonly weightVersion: string;
  readonly version: number;
  readonly state: WeightsState;
  /** Every server has the new weights and generates. */
  readonly whole: boolean;
  /** Empty for an embedded model. */
  readonly servers: readonly ServerUpdate[];
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  steerArguments(command, 'everturn update-weights my-run --from /checkpoints/step-7 --weight-version 7')
    .addOption(new Option('--from <dir>', 'the weights, in a folder that every server sees').makeOptionMandatory())
    .addOption(new Option('--weight-version <n>', "the weights' version: a number, or a word").makeOptionMandatory())
    .addOption(new Option('--rewind', 'the trainer goes back to an older version on purpose'))
    .addOption(new Option('--api-key-env <NAME>', "environment variable of the servers' key (default: the run's)"))
    .action(async (named: string, flags: Flags) => exit(await update(io, await findRun(io, named, flags.out), flags)));
}

async function update(io: Io, place: RunPlace, flags: Flags): Promise<ExitCode> {
  const { run, out, store } = place;
  const { settings, train } = (await store.getRun())!.record;
  const { model } = settings;
  if (train) {
    // Its clock would not follow.
    throw new UsageError(`Run "${run}" is paced by its feed, which alone publishes its weights.`, {
      reason: 'not-allowed',
      fix: `Call \`version\` of the feed with the number and the folder: \`everturn feed ${run}\`, docs/feed.md.`,
    });
  }
  const isEmbedded = weightServers(model) === null;
  const apiKeyEnv = flags.apiKeyEnv ?? (await ownKey(io, place));
  const label = versionWord(flags.weightVersion);
  const version = versionNumber(label);
  const weights = weightsFolder(io, flags.from, isEmbedded);
  const given = { rewind: flags.rewind, apiKeyEnv: flags.apiKeyEnv };
  const named = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  // Of a number the label follows, also after a rewind.
  const input = { run, out, version, weights, ...(label === String(version) ? {} : { label }), ...named };
  // Workers of this user believe that, and nothing that a workflow says of itself.
  registerUpdate(homeOf(io.env), { folder: store.folder, model, apiKeyEnv, weights });
  const link = await openLink(io);
  try {
    const started = await startUpdate(link.session, input);
    const result = await followUpdate(io, link, started, (server) => say(io, serverLine(server)));
    if (result === 'detached') {
      say(io, `The update goes on; \`everturn status ${run}\` shows it.`);
      return EXIT.detached;
    }
    const { state, servers } = result;
    const done = { run, from: weights, weightVersion: result.label, version, state, whole: state === 'whole', servers };
    if (flags.json) printJson(io, done satisfies WeightUpdate);
    else if (isEmbedded) print(io, `Run "${run}" is at version ${result.label}: each turn that begins now has it.`);
    else print(io, updateTable(io, servers));
    if (done.whole) return EXIT.ok;
    throw notWhole(done);
  } finally {
    await link.close();
  }
}

/** A folder from elsewhere must not choose a variable of this user's, and the server that receives its value. */
async function ownKey(io: Io, { run, store }: RunPlace): Promise<string | null> {
  const { model, apiKeyEnv } = (await store.getRun())!.record.settings;
  if (apiKeyEnv === null) return null;
  const own = registeredRun(homeOf(io.env), realPath(store.folder) ?? store.folder);
  if (own?.model === model && own.apiKeyEnv === apiKeyEnv) return apiKeyEnv;
  throw new UsageError(`Run "${run}" uses the key in ${apiKeyEnv}, but none of your own commands here started it.`, {
    reason: 'not-allowed',
    fix: `If its servers are yours, confirm it: --api-key-env ${apiKeyEnv}.`,
  });
}

/** Versions are int32. */
const MAX_NUMBER = 2 ** 31 - 1;

/** Servers report the version, and every record stores it. */
function versionWord(text: string): string {
  const word = text.trim();
  if (/^\d{1,200}$/.test(word) && Number(word) > MAX_NUMBER) {
    throw new UsageError(
      `--weight-version ${word.slice(0, 40)} is above ${MAX_NUMBER}, the greatest that trainers store.`,
      {
        reason: 'bad-value',
        fix: `Give a number from 0 to ${MAX_NUMBER}, or a string that ends in one, as in step-7.`,
      },
    );
  }
  if (/^[\x21-\x7e]{1,200}$/.test(word) && word !== 'default') return word;
  throw new UsageError(`--weight-version ${JSON.stringify(text)} cannot be a version.`, {
    reason: 'bad-value',
    fix: 'Give a number, or a string that ends in one, as in step-7; `default` means weights that were never updated.',
  });
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
  throw new UsageError(`--from ${named} holds no weights.`, {
    reason: 'no-weights',
    fix: isEmbedded
      ? 'It takes a folder with config.json and onnx/model.onnx, exported as the model of the run was.'
      : 'It takes a folder of *.safetensors, *.bin or *.pt, as trainers save it.',
  });
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

export function updateTable(io: Io, servers: readonly ServerUpdate[]): string {
  const columns = [
    { title: 'server' },
    { title: 'before' },
    { title: 'now' },
    { title: 'took' },
    { title: '' },
  ] as const;
  const word = (version: string | null) => oneLine(version ?? '–');
  const rows = servers.map(({ url, before, now, tookMs, state }) => [
    oneLine(url),
    word(before),
    state === 'paused' ? '?' : word(now),
    `${(tookMs / 1000).toFixed(2)} s`,
    state,
  ]);
  return table(columns, rows, paintFor(io.out, io.env), (row, column) =>
    column === 4 ? (['updated', 'already'].includes(servers[row]!.state) ? 'green' : 'red') : undefined,
  );
}

/** The next step for the user depends on whether a server waits. */
function notWhole({ run, from, weightVersion, servers, state }: WeightUpdate): ModelError {
  const of = (...states: ServerUpdate['state'][]) => servers.filter((server) => states.includes(server.state));
  const have = of('updated', 'already').length;
  const paused = of('paused').map(({ url }) => url);
  const parts = [
    state === 'superseded'
      ? `A later update of run "${run}" has taken the place of version ${weightVersion}`
      : have === 0
        ? `No server of run "${run}" has version ${weightVersion}`
        : `The servers of run "${run}" differ: ${have} of ${plural(servers.length, 'server')} have version ${weightVersion}`,
    ...(paused.length > 0 ? [`${paused.join(', ')} makes no token until it is updated or restarted`] : []),
  ];
  return new ModelError(parts.join('; '), {
    reason: 'weights-not-updated',
    fix: `Every token has its version. Fix the errors above about ${oneLine(from)} and the servers, and repeat the command: updated servers are only resumed.`,
  });
}
