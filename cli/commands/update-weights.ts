// `everturn update-weights <run> --from DIR --weight-version N`: loads new weights into every server of a run, while it
// continues. Each server is paused, updated and resumed; every token is recorded with its version. Idempotent: after a
// failure, updated servers are only resumed and interrupted ones are completed.

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
  /** The servers' string for the version, and the number in records. */
  readonly weightVersion: string;
  readonly version: number;
  /** Every server has the new weights and is running. */
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
      fix: 'Wait until that process has ended.',
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

/** Servers report the version, and every record stores it. */
function versionWord(text: string): string {
  const word = text.trim();
  if (/^[\x21-\x7e]{1,200}$/.test(word) && word !== 'default') return word;
  throw new UsageError(`--weight-version ${JSON.stringify(text)} cannot be a version.`, {
    reason: 'bad-value',
    fix: 'Give a number, or a string that ends in one, as in step-7; `default` means weights that were never updated.',
  });
}

/** Servers may see folders that this machine does not: only an existing folder without weights is refused. */
function weightsFolder(io: Io, named: string): string {
  const folder = resolve(io.cwd, named);
  if (!existsSync(folder)) {
    say(io, `${oneLine(folder)} is not on this machine: the servers must be able to read it.`);
    return folder;
  }
  if (statSync(folder).isDirectory() && readdirSync(folder).some((name) => WEIGHTS.test(name))) return folder;
  throw new UsageError(`--from ${named} contains no weights.`, {
    reason: 'no-weights',
    fix: 'Name a folder with *.safetensors, *.bin or *.pt, as trainers save it.',
  });
}

const WEIGHTS = /\.(safetensors|bin|pt|pth|gguf)$/;

const SAID: Readonly<Record<ServerUpdate['state'], string>> = {
  updated: 'has the new weights and is running',
  already: 'already had that version; it is running',
  refused: 'rejected the weights and continues with the old ones',
  paused: 'STAYS PAUSED: it may have either weights',
  unreached: 'could not be reached; its weights are unchanged',
  'not-asked': 'was skipped',
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
    ...(paused.length > 0 ? [`${paused.join(', ')} generates nothing until it is updated or restarted`] : []),
  ];
  return new ModelError(parts.join('; '), {
    reason: 'weights-not-updated',
    fix: `Every token has its version. Fix the errors above about ${oneLine(from)} and the servers, and repeat the command: updated servers are only resumed.`,
  });
}
