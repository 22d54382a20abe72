// `everturn update-weights <run> --from DIR --weight-version N`: new weights for every server of a run, while it goes
// on. Each server is paused, updated and continued; every token keeps the version that made it. Repeat it after a
// failure: what was done is not done again, and what was left half done is finished.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { oneLine } from '../../domain/foreign-text.ts';
import { type Command, Option } from 'commander';
import { ModelError, UsageError } from '../../domain/errors.ts';
import { versionNumber } from '../../domain/weight-version.ts';
import { updateModel } from '../../inference/weights/index.ts';
import type { ServerUpdate } from '../../inference/weights/update.ts';
import { realPath } from '../../permissions/folders.ts';
import { registeredRun } from '../../permissions/registered.ts';
import { homeOf } from '../../service/home.ts';
import { tryLock } from '../../machine/lock.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { plural } from '../view/format.ts';
import { type Io, print, printJson, say } from '../io.ts';
import { paintFor } from '../view/paint.ts';
import { findRun, type RunPlace } from '../find/place.ts';
import { steerArguments, type SteerFlags } from '../play/steer.ts';
import { table } from '../view/table.ts';

interface Flags extends SteerFlags {
  readonly from: string;
  readonly weightVersion: string;
  readonly apiKeyEnv?: string;
}

export interface WeightUpdate {
  readonly run: string;
  readonly from: string;
  /** The servers' name for the weights, and the number that records hold for it. */
  readonly weightVersion: string;
  readonly version: number;
  /** Every server has the new weights and goes on. */
  readonly whole: boolean;
  readonly servers: readonly ServerUpdate[];
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  steerArguments(command, 'everturn update-weights my-run --from /checkpoints/step-7 --weight-version 7')
    .addOption(new Option('--from <dir>', 'the weights, in a folder that every server sees').makeOptionMandatory())
    .addOption(new Option('--weight-version <n>', "the weights' version: a number, or a word").makeOptionMandatory())
    .addOption(new Option('--api-key-env <NAME>', "environment variable of the servers' key (default: the run's)"))
    .action(async (named: string, flags: Flags) => exit(await update(io, findRun(io, named, flags.out), flags)));
}

async function update(io: Io, place: RunPlace, flags: Flags): Promise<ExitCode> {
  const { run, store } = place;
  const { model } = (await store.getRun())!.record.settings;
  const apiKeyEnv = flags.apiKeyEnv ?? (await ownKey(io, place));
  const version = versionWord(flags.weightVersion);
  const from = weightsFolder(io, flags.from);
  const lock = await tryLock(join(store.folder, '.fleet', 'updating'));
  if ('heldBy' in lock) {
    throw new UsageError(`The weights of run "${run}" are being updated by process ${lock.heldBy.pid}.`, {
      reason: 'update-in-progress',
      fix: 'Wait for its end.',
    });
  }
  const signal = io.interrupted();
  try {
    const onServer = (server: ServerUpdate) => say(io, serverLine(server));
    const options = { apiKeyEnv, signal, onServer };
    const servers = await updateModel(model, { from, version }, options);
    const whole = servers.every(({ state }) => state === 'updated' || state === 'already');
    const done = { run, from, weightVersion: version, version: versionNumber(version), whole, servers };
    if (flags.json) printJson(io, done satisfies WeightUpdate);
    else print(io, updateTable(io, servers));
    if (whole) return EXIT.ok;
    if (signal.aborted) return EXIT.detached;
    throw notWhole(done);
  } finally {
    lock.release();
  }
}

/** A folder that came from elsewhere must not choose a variable of this user's, and the server that it goes to. */
async function ownKey(io: Io, { run, store }: RunPlace): Promise<string | null> {
  const { model, apiKeyEnv } = (await store.getRun())!.record.settings;
  if (apiKeyEnv === null) return null;
  const own = registeredRun(homeOf(io.env), realPath(store.folder) ?? store.folder);
  if (own?.model === model && own.apiKeyEnv === apiKeyEnv) return apiKeyEnv;
  throw new UsageError(`Run "${run}" asks for the key in ${apiKeyEnv}, and no command of yours here started it.`, {
    reason: 'not-allowed',
    fix: `Where its servers are yours, say so: --api-key-env ${apiKeyEnv}.`,
  });
}

/** A version is kept in every record, and said again by servers. */
function versionWord(text: string): string {
  const word = text.trim();
  if (/^[\x21-\x7e]{1,200}$/.test(word) && word !== 'default') return word;
  throw new UsageError(`--weight-version ${JSON.stringify(text)} cannot be a version.`, {
    reason: 'bad-value',
    fix: 'Give a number, or a word that ends in one, as in step-7; `default` means weights that were never updated.',
  });
}

/** Servers may see folders that this machine does not: only what is here and wrong is refused. */
function weightsFolder(io: Io, named: string): string {
  const folder = resolve(io.cwd, named);
  if (!existsSync(folder)) {
    say(io, `${oneLine(folder)} is not on this machine: the servers must have it.`);
    return folder;
  }
  if (statSync(folder).isDirectory() && readdirSync(folder).some((name) => WEIGHTS.test(name))) return folder;
  throw new UsageError(`--from ${named} holds no weights.`, {
    reason: 'no-weights',
    fix: 'It takes a folder of *.safetensors, *.bin or *.pt, as trainers save it.',
  });
}

const WEIGHTS = /\.(safetensors|bin|pt|pth|gguf)$/;

const SAID: Readonly<Record<ServerUpdate['state'], string>> = {
  updated: 'has the new weights, and goes on',
  already: 'had that version already; it goes on',
  refused: 'refused, and goes on with the weights it had',
  paused: 'STAYS PAUSED: which weights it has is not sure',
  unreached: 'could not be reached; it has what it had',
  'not-asked': 'was not asked',
};

function serverLine({ url, state, error }: ServerUpdate): string {
  return oneLine(`${url} ${SAID[state]}${error === null ? '.' : `: ${error}`}`);
}

function updateTable(io: Io, servers: readonly ServerUpdate[]): string {
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
function notWhole({ run, from, weightVersion, servers }: WeightUpdate): ModelError {
  const of = (...states: ServerUpdate['state'][]) => servers.filter(({ state }) => states.includes(state));
  const have = of('updated', 'already').length;
  const paused = of('paused').map(({ url }) => url);
  const mixed = have > 0 ? `${have} of ${plural(servers.length, 'server')} have version ${weightVersion}` : '';
  const parts = [
    mixed === ''
      ? `No server of run "${run}" has version ${weightVersion}`
      : `The servers of run "${run}" differ: ${mixed}`,
    ...(paused.length > 0 ? [`${paused.join(', ')} makes no token until it is updated or restarted`] : []),
  ];
  return new ModelError(parts.join('; '), {
    reason: 'weights-not-updated',
    fix: `Every token keeps the version that made it. Mend what the lines above say about ${oneLine(from)} and the servers, and repeat the command: servers that have the version are left alone.`,
  });
}
