// What `check` needs of a run's model: its tokenizer, if it is on this machine (in a named folder, the shipped model's, in a
// local folder, or in the hub's cache), and the formats of its calls. Uses no network and no server; reports why there is none.

import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { explain } from '../domain/errors/errors.ts';
import { hubCacheFolder, optionalModelFile } from '../inference/tokenizer/model-source.ts';
import { packageRoot } from '../local/machine/package-root.ts';
import { loadTokenizer } from '../inference/tokenizer/tokenizer.ts';
import { tokenizerHashes, weightsHash } from '../inference/tokenizer/model-files.ts';
import type { ModelIdentity } from '../domain/weights/model-identity.ts';
import type { CheckTokenizer } from '../records/check/checked.ts';
import type { CallTexts } from '../domain/rollout/calls.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import type { RunRecord } from '../records/format/run-record.ts';
import type { Store } from '../records/store.ts';
import { unusable } from '../domain/errors/unusable.ts';

export interface FoundTokenizer {
  readonly tokenizer?: CheckTokenizer;
  /** The hashes of the model's files, as far as they are here. */
  readonly hashes?: Pick<ModelIdentity, 'tokenizer' | 'template' | 'weights'>;
  /** The reason why there is none. */
  readonly why: string;
}

/** `wanted`: a folder, or false for none; undefined: the run's own. */
export async function tokenizerOf(store: Store, cwd: string, wanted?: string | false): Promise<FoundTokenizer> {
  if (wanted === false) return { why: '--no-tokenizer' };
  if (typeof wanted === 'string') {
    return open(resolve(cwd, wanted), []).catch((error: unknown) => {
      const fix = 'Name a folder with tokenizer.json and tokenizer_config.json.';
      throw unusable(`--tokenizer: ${explain(error)}`, fix);
    });
  }
  // The check itself reports a broken run.json.
  const settings = (await store.get('run').catch(() => undefined))?.record.settings;
  if (typeof settings?.model !== 'string') return { why: 'run.json names no model' };
  const folder = await tokenizerFolderOf(settings, cwd);
  if ('why' in folder) return folder.why === NOT_HERE ? { why: `${NOT_HERE} (--tokenizer names a folder)` } : folder;
  const { folder: found, scheme, model } = folder;
  const modelFolder = model === null ? undefined : await folderOf(cwd, model);
  // Other weights than the shipped ones may be gigabytes: their hash is not computed here.
  const weights = scheme === 'tiny' && modelFolder !== undefined ? modelFolder : null;
  return open(found, modelFolder === undefined ? [] : [modelFolder], weights).catch((error: unknown) => ({
    why: explain(error),
  }));
}

/** The formats of calls, to read and write them: none is run. Undefined for a run whose rollouts have no tools. */
export async function callTextsOf(run: RunRecord | undefined): Promise<CallTexts | undefined> {
  // What a client starts directly has tools of its own.
  if (run?.dataset && !run.settings.tools) return undefined;
  const { createTools } = await import('../environments/tools/index.ts');
  return createTools({});
}

const NOT_HERE = "the model's tokenizer is not on this machine";

/** The folder of a run's tokenizer, if it is on this machine. `model`: the model's own folder or name, if it has one. */
export async function tokenizerFolderOf(
  settings: Pick<RolloutSettings, 'model' | 'tokenizer'>,
  cwd: string,
): Promise<
  { readonly folder: string; readonly scheme: string; readonly model: string | null } | { readonly why: string }
> {
  const [scheme = '', target = ''] = settings.model.split(/:(.*)/s);
  if (scheme === 'openai') return { why: 'the server returns text only' };
  const ships = scheme === 'tiny' || scheme === 'scripted';
  const model = ships ? join(packageRoot(), 'models', scheme) : scheme === 'transformers' ? target : null;
  const named = settings.tokenizer ?? model;
  const folder = named === null ? undefined : await folderOf(cwd, named);
  if (folder === undefined) return { why: NOT_HERE };
  return { folder, scheme, model };
}

/** The folder of an embedded model, if it is on this machine. */
export async function modelFolderOf(settings: RolloutSettings, cwd: string): Promise<string | undefined> {
  const found = await tokenizerFolderOf(settings, cwd);
  return 'why' in found || found.model === null || found.scheme === 'scripted' ? undefined : folderOf(cwd, found.model);
}

async function open(folder: string, models: readonly string[], weights: string | null = null): Promise<FoundTokenizer> {
  const tokenizer = await loadTokenizer(folder);
  const ends = [folder, ...models].map(endsOf);
  const stopTokenIds = [...new Set([...tokenizer.stopTokenIds, ...ends.flat()])];
  const hashes = {
    ...(await tokenizerHashes(folder)),
    weights: weights === null ? null : await weightsHash(weights),
  };
  return { why: '', tokenizer: { ...tokenizer, stopTokenIds, name: `the tokenizer in ${folder}` }, hashes };
}

/** The stop tokens in a model's own files. */
function endsOf(folder: string): number[] {
  const files = ['generation_config.json', 'config.json'].map((name) => optionalModelFile(folder, name) ?? '{}');
  return files.flatMap((text) => {
    try {
      const ids = (JSON.parse(text) as { readonly eos_token_id?: unknown } | null)?.eos_token_id;
      return [ids].flat().filter((id): id is number => Number.isSafeInteger(id));
    } catch {
      return [];
    }
  });
}

async function folderOf(cwd: string, name: string): Promise<string | undefined> {
  for (const folder of [resolve(cwd, name), join(hubCacheFolder(), name)])
    if ((await stat(join(folder, 'tokenizer.json')).catch(() => undefined))?.isFile()) return folder;
  return undefined;
}
