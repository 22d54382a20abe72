// The source of a model's files: a folder, or a name on the Hugging Face hub. A folder is checked before anything is
// loaded, because the libraries' own errors do not name the missing file.

import { readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';

import { ModelError } from '../../domain/errors/errors.ts';
import { readRegular } from '../../local/machine/regular-file.ts';

export type ModelSource =
  | { readonly kind: 'folder'; readonly path: string; readonly name: string }
  | { readonly kind: 'hub'; readonly id: string; readonly name: string };

const HUB_ID = /^\w[\w.-]*\/\w[\w.-]*$/;
export const TOKENIZER_FILES = ['tokenizer.json', 'tokenizer_config.json'];
const WEIGHT_FILES = ['config.json', 'onnx/model.onnx'];
const MODEL_FILES = [...WEIGHT_FILES, ...TOKENIZER_FILES];

/** The name for transformers.js. */
export function pretrainedName(source: ModelSource): string {
  return source.kind === 'folder' ? source.path : source.id;
}

/** The folder of its files on this machine, once they are loaded. */
export function folderOf(source: ModelSource): string {
  return source.kind === 'folder' ? source.path : join(hubCacheFolder(), source.id);
}

export async function findModelSource(target: string): Promise<ModelSource> {
  const path = resolve(target.replace(/^~(?=\/)/, homedir()));
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory()) return { kind: 'folder', path, name: basename(path) };
  if (!found && HUB_ID.test(target)) return { kind: 'hub', id: target, name: target };
  throw new ModelError(found ? `${path} is no folder` : `There is no model folder ${path}`, {
    reason: 'model-not-found',
    fix: `Right would be a folder with ${MODEL_FILES.join(', ')}, or a hub id such as onnx-community/Qwen2.5-0.5B-Instruct.`,
  });
}

export function checkTokenizerFolder(folder: string): Promise<void> {
  return checkFiles(folder, TOKENIZER_FILES, 'tokenizer');
}

export function checkModelFolder(folder: string, withTokenizer: boolean): Promise<void> {
  return checkFiles(folder, withTokenizer ? MODEL_FILES : WEIGHT_FILES, 'model');
}

async function checkFiles(folder: string, files: readonly string[], what: string): Promise<void> {
  const missing: string[] = [];
  for (const file of files) if (!(await stat(join(folder, file)).catch(() => null))?.isFile()) missing.push(file);
  if (missing.length === 0) return;
  const others = missing.includes('onnx/model.onnx') ? await readdir(join(folder, 'onnx')).catch(() => []) : [];
  const beside = others.length > 0 ? ` (onnx/ has ${others.join(', ')}; the float32 model.onnx is read)` : '';
  throw new ModelError(`The ${what} folder ${folder} lacks ${missing.join(' and ')}${beside}`, {
    reason: what === 'model' ? 'model-incomplete' : 'tokenizer-incomplete',
    fix: `Right would be a folder with ${files.join(', ')}.`,
  });
}

/** The cache of files from the hub; they are found here without a network. */
export function hubCacheFolder(): string {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  return process.env['EVERTURN_MODEL_CACHE'] ?? join(cache, 'everturn', 'models');
}

/** A text file of a model. */
export const readModelFile = (folder: string, name: string): string => readRegular(join(folder, name), MAX_FILE_BYTES);

/** Null if it is not there, or is none. */
export function optionalModelFile(folder: string, name: string): string | null {
  try {
    return readModelFile(folder, name);
  } catch {
    return null;
  }
}

const MAX_FILE_BYTES = 2 ** 28;
