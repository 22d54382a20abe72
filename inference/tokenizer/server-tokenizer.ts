// The tokenizer and the vocabulary of a model on a server: from --tokenizer, or from the server's own model path, if
// that is a folder on this machine or a hub id. One copy per source, whatever the number of servers.

import { ModelError } from '../../domain/errors/errors.ts';
import { type ModelConfig, readModelConfig } from './model-files.ts';
import { findModelSource, folderOf } from './model-source.ts';
import { openTokenizer, type ModelTokenizer } from './tokenizer.ts';

export interface ServedTokenizer {
  readonly tokenizer: ModelTokenizer;
  /** The model's if its config.json has it, else the tokenizer's. */
  readonly vocabSize: number;
  /** The folder of its files on this machine. */
  readonly folder: string;
  readonly hasExperts: boolean;
  readonly routing: ModelConfig['routing'];
  /** True if an answer may end at this id. `reported`: the id at which it ended according to the server. */
  readonly ends: (id: number, reported: number | null) => boolean;
}

export interface TokenizerLoader {
  load(serverSays: string | null, url: string): Promise<ServedTokenizer>;
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

  return { load: find };
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
  const folder = folderOf(source);
  const { vocabSize, endIds, hasExperts, routing } = await readModelConfig(folder);
  const ends = new Set([...tokenizer.stopTokenIds, ...(endIds ?? [])]);
  // Without generation_config.json the list is incomplete: the server's stop reason counts for ids without text.
  return {
    tokenizer,
    vocabSize: vocabSize ?? tokenizer.size,
    folder,
    hasExperts,
    routing,
    ends: (id, reported) => ends.has(id) || (endIds === null && reported === id && tokenizer.specialIds.has(id)),
  };
}
