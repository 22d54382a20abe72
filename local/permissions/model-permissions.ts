// The models, tokenizers, weights and keys that a workflow may use on a worker: those of the user's own commands, and those
// that the operator lists.

import { UsageError } from '../../domain/errors/errors.ts';
import type { RolloutSettings } from '../../domain/rollout/settings.ts';
import { parseModelSpec } from '../../inference/index.ts';
import type { Home } from '../service/home.ts';
import { isUnder, plainPath, realPath } from './folders.ts';
import { notAllowed, type Operator, plainWord, quotedShort } from './operator.ts';
import { registeredFor, registeredRun, registeredUpdates } from './registered.ts';

export interface ModelPermissions {
  /** The model, its tokenizer and the key that a rollout of this run would use. */
  mayUseModel(settings: RolloutSettings, runFolder: string): void;
  /** The folder of new weights, and the key for the servers that load them. */
  mayUseWeights(update: WeightsUse): void;
  /** A tokenizer that a server, not the settings, names. */
  mayLoad(settings: RolloutSettings, runFolder: string): (folderOrHubId: string) => void;
}

interface WeightsUse {
  readonly settings: RolloutSettings;
  /** The run's. */
  readonly folder: string;
  readonly weights: string;
  readonly apiKeyEnv: string | null;
}

export function openModelPermissions(operator: Operator, home: Home): ModelPermissions {
  function mayUseModel(settings: RolloutSettings, runFolder: string): void {
    const { model, tokenizer, apiKeyEnv } = settings;
    const run = registeredFor(registeredRun, home, runFolder);
    const isOwn = run?.model === model && run.tokenizer === tokenizer;
    const { files, servers } = parseModelSpec(model);
    if (!isOwn && files !== null) mustLoadHere(operator, files);
    if (!isOwn && tokenizer !== null) mustLoadHere(operator, tokenizer);
    if (apiKeyEnv === null) return;
    const origins = servers.map((url) => new URL(url).origin);
    if (origins.length > 0 && origins.every((origin) => isListedKey(operator, apiKeyEnv, origin))) return;
    if (isOwn && run.apiKeyEnv === apiKeyEnv && isOwnKey(operator, apiKeyEnv)) return;
    const to = origins.length > 0 ? origins.join(', ') : 'nobody';
    const entry = isOwn ? apiKeyEnv : `${apiKeyEnv}=${origins[0] ?? '<url>'}`;
    throw notAllowed(`send the key in ${quotedShort(apiKeyEnv)} to ${to}`, 'apiKeyEnv', entry);
  }

  return {
    mayUseModel,

    mayUseWeights({ settings, folder, weights, apiKeyEnv }) {
      if (plainPath(weights) === undefined) {
        throw new UsageError(
          `\`weights\` is ${quotedShort(weights)}, and an update names its folder by an absolute path.`,
          {
            reason: 'not-allowed',
            fix: 'Give it from the root on, without `..`, `.` or empty parts.',
          },
        );
      }
      const updates = registeredFor(registeredUpdates, home, folder);
      const isOwn = updates?.model === settings.model && updates.apiKeyEnv === apiKeyEnv;
      if (!isOwn || !updates.weights.includes(weights)) mustLoadHere(operator, weights);
      if (apiKeyEnv !== null && !(isOwn && isOwnKey(operator, apiKeyEnv)))
        mayUseModel({ ...settings, apiKeyEnv }, folder);
    },

    mayLoad(settings, runFolder) {
      return (folderOrHubId) => {
        const run = registeredFor(registeredRun, home, runFolder);
        if (run?.model !== settings.model || run.tokenizer !== settings.tokenizer)
          mustLoadHere(operator, folderOrHubId);
      };
    },
  };
}

interface KeyUse {
  /** Absent or null: none is sent. */
  readonly apiKeyEnv?: string | null | undefined;
  /** The url of the server that gets it. */
  readonly server: string;
}

/** The key of a judge or a side model that the user's own command (`isOwn`), or this worker's operator, named. */
export function maySendKey(operator: Operator, { server, apiKeyEnv }: KeyUse, isOwn: boolean): void {
  if (apiKeyEnv == null) return;
  const { origin } = new URL(server);
  if (isListedKey(operator, apiKeyEnv, origin) || (isOwn && isOwnKey(operator, apiKeyEnv))) return;
  throw notAllowed(`send the key in ${quotedShort(apiKeyEnv)} to ${origin}`, 'apiKeyEnv', `${apiKeyEnv}=${origin}`);
}

function mustLoadHere(operator: Operator, folderOrHubId: string): void {
  const plain = plainPath(folderOrHubId);
  const real = plain === undefined ? undefined : realPath(plain);
  const isAllowed =
    plain === undefined
      ? operator.models.includes(folderOrHubId)
      : real !== undefined && operator.models.some((folder) => folder.startsWith('/') && isUnder(real, folder));
  if (!isAllowed)
    throw notAllowed(`load the model or tokenizer ${quotedShort(folderOrHubId)}`, 'models', plainWord(folderOrHubId));
}

const isListedKey = ({ keys }: Operator, variable: string, origin: string): boolean =>
  keys.some((rule) => rule.name === variable && rule.origin === origin);

/** May a command of this user's choose that variable? */
function isOwnKey({ keys, ownKeys }: Operator, variable: string): boolean {
  return (
    ownKeys === 'any' ||
    (ownKeys === 'api-keys' && variable.endsWith('_API_KEY')) ||
    keys.some((rule) => rule.name === variable && rule.origin === null)
  );
}
