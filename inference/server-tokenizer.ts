// The tokenizer and the vocabulary of a model that somebody else serves: from --tokenizer, or from where the
// server has its model, if that is a folder here or a hub id. One copy per source, however many servers.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { ModelError } from '../domain/errors.ts';
import { findModelSource, hubCacheFolder } from './model-source.ts';
import { openTokenizer, type ModelTokenizer } from './tokenizer.ts';

export interface ServedTokenizer {
  readonly tokenizer: ModelTokenizer;
  /** Of the model where its config.json says, else of the tokenizer. */
  readonly vocabSize: number;
}

/** Owns the tokenizers it loads. */
export interface TokenizerLoader {
  load(serverSays: string | null, url: string): Promise<ServedTokenizer>;
  close(): Promise<void>;
}

export function tokenizerLoader(
  wanted: string | null,
  mayLoad: (folderOrHubId: string) => void = () => undefined,
): TokenizerLoader {
  const loaded = new Map<string, Promise<ServedTokenizer>>();

  async function find(serverSays: string | null, url: string): Promise<ServedTokenizer> {
    const name = wanted ?? serverSays;
    if (name === null) throw noTokenizer(`${url} does not say which tokenizer is its model's`);
    if (wanted === null) mayLoad(name);
    const known = loaded.get(name);
    if (known) return known;
    const loading = read(name).catch((cause: unknown) => {
      loaded.delete(name);
      if (wanted !== null) throw cause;
      throw noTokenizer(`${url} serves ${name}, which is neither a folder here nor to be had from the hub`, cause);
    });
    loaded.set(name, loading);
    return loading;
  }

  return {
    load: find,
    async close() {
      await Promise.allSettled([...loaded.values()].map(async (it) => (await it).tokenizer.close()));
    },
  };
}

function noTokenizer(what: string, cause?: unknown): ModelError {
  return new ModelError(what, {
    reason: 'no-tokenizer',
    fix: 'Name its tokenizer: --tokenizer <folder or hub id>.',
    cause,
  });
}

async function read(name: string): Promise<ServedTokenizer> {
  const source = await findModelSource(name);
  const tokenizer = await openTokenizer(source);
  const folder = source.kind === 'folder' ? source.path : join(hubCacheFolder(), source.id);
  return { tokenizer, vocabSize: (await configuredVocabulary(folder)) ?? tokenizer.size };
}

async function configuredVocabulary(folder: string): Promise<number | null> {
  try {
    const config = JSON.parse(await readFile(join(folder, 'config.json'), 'utf8')) as {
      vocab_size?: unknown;
      text_config?: { vocab_size?: unknown };
    };
    const size = config.vocab_size ?? config.text_config?.vocab_size;
    return typeof size === 'number' && Number.isSafeInteger(size) && size > 0 ? size : null;
  } catch {
    return null;
  }
}
