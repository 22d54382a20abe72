// New weights for a run while it goes on: starts the workflow `updateWeights`, and follows it to its end. It goes on without this
// program. Repeated after a failure, it does nothing again that was done, and finishes what was left.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { startUpdate, type StartedUpdate, updateProgress, updateResult } from '../client/temporal/weights.ts';
import { unusable } from '../domain/errors/unusable.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import { oneLine } from '../domain/text/foreign-text.ts';
import { versionNumber } from '../domain/weights/weight-version.ts';
import type { ServerUpdate, WeightsResult } from '../domain/weights/weights.ts';
import { weightServers } from '../inference/weights/index.ts';
import { realPath } from '../local/permissions/folders.ts';
import { registeredRun, registerUpdate } from '../local/permissions/registered.ts';
import type { Environment } from '../local/machine/user-folders.ts';
import { homeOf } from '../local/service/home.ts';
import { type Link, withLink } from '../local/service/link.ts';
import { type Caller, linkOptionsOf, logOf, type RunEvent } from '../run/caller.ts';
import type { RunPlace } from '../run/place.ts';
import { silenceOf } from '../run/require-worker.ts';
import { untilClosed } from './await-workflow.ts';

export interface WeightsOptions {
  /** The weights, in a folder that every server sees, or every worker that has the model itself; relative to `cwd`. */
  readonly from?: string | undefined;
  /** In place of `from`: an adapter of the run's model, in a folder that every server and worker sees. */
  readonly adapter?: string | undefined;
  /** Their version: a number, or a word that ends in one. */
  readonly weightVersion: number | string;
  /** The trainer goes back to an older version on purpose. Default false. */
  readonly rewind?: boolean | undefined;
  /** Environment variable of the servers' key. Default: the run's. */
  readonly apiKeyEnv?: string | undefined;
  /** Called once for each server, when its part has ended. */
  readonly onServer?: ((server: ServerUpdate) => void) | undefined;
  /** Called with what happens meanwhile. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
  /** Ends the wait; the update goes on. */
  readonly signal?: AbortSignal | undefined;
}

export interface WeightUpdate extends Pick<WeightsResult, 'state' | 'servers'> {
  readonly run: string;
  readonly from: string;
  /** The servers' label for the weights. */
  readonly weightVersion: string;
  readonly version: number;
  /** Every server has the new ones and generates. Else the call is repeated. */
  readonly whole: boolean;
}

/** Undefined: the caller's signal ended the wait. It is asked for once the update goes on. */
export async function updateWeightsOf(
  { run, out, store }: RunPlace,
  caller: Caller,
  { from, adapter, weightVersion, rewind, apiKeyEnv: key, onServer = () => {} }: WeightsOptions,
): Promise<WeightUpdate | undefined> {
  const label = labelOf(String(weightVersion));
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
  const kind = kindOf(from, adapter, weightServers(model) === null, model);
  const apiKeyEnv = key ?? ownKey(caller.env, run, store.folder, settings);
  const version = versionNumber(label);
  const weights = weightsFolder(caller, (from ?? adapter)!, kind);
  const input = {
    ...{ run, out, version, weights },
    // A version's number gives its label, also after a rewind.
    ...(label !== String(version) && { label }),
    ...(rewind && { rewind: true }),
    ...(kind === 'adapter' && { adapter: true }),
    ...(key !== undefined && { apiKeyEnv: key }),
  };
  // Workers of this user believe that, and nothing that a workflow says of itself.
  registerUpdate(homeOf(caller.env), { folder: store.folder, model, apiKeyEnv, weights });
  const result = await withLink(linkOptionsOf(caller), async (link) =>
    followUpdate(link, await startUpdate(link.session, input), caller, onServer),
  );
  if (!result) return undefined;
  const { state, servers } = result;
  return { run, from: weights, weightVersion: result.label, version, state, whole: state === 'whole', servers };
}

/** A folder from elsewhere must not choose a variable of this user's, and the server that receives its value. */
function ownKey(env: Environment, run: string, folder: string, { model, apiKeyEnv }: RolloutSettings): string | null {
  if (apiKeyEnv === null) return null;
  const own = registeredRun(homeOf(env), realPath(folder) ?? folder);
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
function labelOf(given: string): string {
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

interface Kind {
  /** Who loads it. */
  readonly by: 'servers' | 'workers' | 'servers and workers';
  /** The file that it holds, beside others. */
  readonly folder: string;
  readonly file: RegExp;
  readonly takes: string;
}

const KINDS = {
  weights: {
    by: 'servers',
    folder: '',
    file: /\.(safetensors|bin|pt|pth|gguf)$/,
    takes: 'a folder of *.safetensors, *.bin or *.pt, as trainers save it',
  },
  embedded: {
    by: 'workers',
    folder: 'onnx',
    file: /^model\.onnx$/,
    takes: 'a folder with config.json and onnx/model.onnx, exported as the model of the run was',
  },
  adapter: {
    by: 'servers and workers',
    folder: '',
    file: /^adapter_model\.safetensors$/,
    takes: 'a folder with adapter_config.json and adapter_model.safetensors, as PEFT saves it',
  },
} satisfies Readonly<Record<string, Kind>>;

function kindOf(from: string | undefined, adapter: string | undefined, isEmbedded: boolean, model: string) {
  if ((from === undefined) === (adapter === undefined))
    throw unusable('New weights are given by --from or by --adapter, one of them.', 'Leave one out.');
  if (adapter === undefined) return isEmbedded ? 'embedded' : 'weights';
  if (!isEmbedded) return 'adapter';
  const fix = 'Merge it into the model, and give the folder of that by --from.';
  throw unusable(`${model} runs in workers, and they load no adapter.`, fix, 'no-weights-to-update');
}

/** Servers may see folders that this machine does not: only what is here and wrong is refused. */
function weightsFolder(caller: Caller, named: string, kind: keyof typeof KINDS): string {
  const folder = resolve(caller.cwd, named);
  const { by, folder: inner, file, takes } = KINDS[kind];
  if (!existsSync(folder)) {
    logOf(caller)(`${oneLine(folder)} is not on this machine: the ${by} must have it.`);
    return folder;
  }
  const place = join(folder, inner);
  const isFolder = statSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (isFolder && readdirSync(place).some((name) => file.test(name))) return folder;
  const what = kind === 'adapter' ? `--adapter ${named} holds no adapter.` : `--from ${named} holds no weights.`;
  throw unusable(what, `It takes ${takes}.`, 'no-weights');
}

const POLL_MS = 200;
const STILL_MS = 15_000;

async function followUpdate(
  link: Link,
  update: StartedUpdate,
  caller: Caller,
  onServer: (server: ServerUpdate) => void,
): Promise<WeightsResult | undefined> {
  const { now, signal = new AbortController().signal } = caller;
  const told = new Set<string>();
  const tell = (servers: readonly ServerUpdate[]) => {
    for (const server of servers.filter(({ url }) => !told.has(url))) {
      told.add(server.url);
      onServer(server);
    }
  };
  let warned = false;
  const end = await untilClosed({ now, signal }, link, update.workflowId, {
    everyMs: POLL_MS,
    onStep: () => undefined,
    async look() {
      const progress = await updateProgress(link.session, update);
      tell(progress?.servers ?? []);
      return progress !== undefined;
    },
    async onSilence(sinceMs, error) {
      if (warned || now() - sinceMs <= STILL_MS) return;
      warned = true;
      const why = error === undefined ? (await silenceOf(link)).fix : 'Temporal does not answer.';
      logOf(caller)(`The update waits: ${why}`);
    },
  });
  if (end === 'detached') return undefined;
  const result = await updateResult(link.session, update);
  tell(result.servers);
  return result;
}
