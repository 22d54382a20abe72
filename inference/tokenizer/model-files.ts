// Facts in the files of a model's folder, beside its tokenizer: the size of the vocabulary, the tokens that end an
// answer, and hashes that identify a tokenizer and a chat template. Layout and order do not matter.

import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

import type { ModelIdentity } from '../../domain/weights/model-identity.ts';
import { streamRegular } from '../../local/machine/regular-file.ts';
import { optionalModelFile, readModelFile } from './model-source.ts';

type Json = Readonly<Record<string, unknown>>;

export interface ModelConfig {
  /** Null if no config.json has it. */
  readonly vocabSize: number | null;
  /** The ids in config.json and generation_config.json; null without a readable generation_config.json. */
  readonly endIds: readonly number[] | null;
  /** Its layers send a token to some of several experts. */
  readonly hasExperts: boolean;
  /** All of its layers, and the experts of one that a token is sent to, as servers count them; null where they are not known. */
  readonly routing: { readonly layers: number; readonly perToken: number } | null;
}

/** Counts of experts, as families of models name them. */
const EXPERTS = ['num_experts', 'num_local_experts', 'n_routed_experts', 'moe_num_experts'];

export async function readModelConfig(folder: string): Promise<ModelConfig> {
  const [config, generation] = ['config.json', 'generation_config.json'].map((name) => jsonOf(folder, name));
  const text = config?.['text_config'] as Json | undefined;
  const size = config?.['vocab_size'] ?? text?.['vocab_size'];
  const ids = [config, text, generation].flatMap((file) => file?.['eos_token_id'] ?? []).filter(isId);
  const counts = EXPERTS.flatMap((name) => [config?.[name], text?.[name]]);
  const hasExperts = counts.some((count) => isId(count) && count > 1);
  const [layers, perToken] = ['num_hidden_layers', 'num_experts_per_tok'].map((name) => text?.[name] ?? config?.[name]);
  return {
    vocabSize: isId(size) && size > 0 ? size : null,
    endIds: generation ? [...new Set(ids)] : null,
    hasExperts,
    routing: hasExperts && isId(layers) && isId(perToken) ? { layers, perToken } : null,
  };
}

export interface TokenizerHashes {
  /** Null if the file cannot be read. */
  readonly tokenizer: string | null;
  readonly template: string | null;
}

const NAMES = ['tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja'];
/** The hash of a folder's files, and the state in which they had it. */
const known = new Map<string, { readonly state: string; readonly hashes: TokenizerHashes }>();

/** Computed again only if a file changed: a server that comes back is identified again, and tokenizers are large. */
export async function tokenizerHashes(folder: string): Promise<TokenizerHashes> {
  const stats = await Promise.all(NAMES.map((name) => stat(join(folder, name)).catch(() => null)));
  const state = stats.map((it) => (it ? `${it.ino}/${it.size}/${it.mtimeMs}` : '-')).join(' ');
  const before = known.get(folder);
  if (before?.state === state) return before.hashes;
  const [tokenizer, config] = NAMES.slice(0, 2).map((name) => jsonOf(folder, name));
  const template = optionalModelFile(folder, NAMES[2]!) ?? config?.['chat_template'] ?? null;
  const hashes = {
    tokenizer: tokenizer ? hashOf(whatCounts(tokenizer)) : null,
    template: template === null ? null : hashOf(template),
  };
  known.set(folder, { state, hashes });
  return hashes;
}

/** SHA-256 over model.onnx and the files of external data beside it. */
export async function weightsHash(modelFolder: string): Promise<string | null> {
  const folder = join(modelFolder, 'onnx');
  const files = (await readdir(folder).catch(() => []))
    .filter((file) => /^model\.onnx(_data(_\d+)?)?$/.test(file))
    .sort();
  if (files.length === 0) return null;
  const hash = createHash('sha256');
  for (const file of files) for await (const chunk of streamRegular(join(folder, file))) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** The identity of an embedded model. `name`: a hub id, or another name that means one model everywhere. */
export async function folderIdentity(
  folder: string,
  name: string | null,
  { tokenizerFolder = folder, weights }: { tokenizerFolder?: string; weights?: string | null } = {},
): Promise<ModelIdentity> {
  return {
    name,
    ...(await tokenizerHashes(tokenizerFolder)),
    weights: weights === undefined ? await weightsHash(folder) : weights,
    canary: null,
  };
}

/** The parts of tokenizer.json that determine a text's ids. Older files write merges as strings, newer ones as pairs. */
function whatCounts({ model, added_tokens, normalizer, pre_tokenizer, post_processor, decoder }: Json): unknown {
  const { merges, ...rest } = (model ?? {}) as Json;
  const pairs = Array.isArray(merges)
    ? merges.map((merge: unknown) => (Array.isArray(merge) ? merge.join(' ') : merge))
    : null;
  return { model: { ...rest, merges: pairs }, added_tokens, normalizer, pre_tokenizer, post_processor, decoder };
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value, inOrder)).digest('hex');
}

function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function jsonOf(folder: string, name: string): Json | null {
  try {
    const value: unknown = JSON.parse(readModelFile(folder, name));
    return typeof value === 'object' && value !== null ? (value as Json) : null;
  } catch {
    return null;
  }
}
