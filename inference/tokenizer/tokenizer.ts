// A model's own tokenizer and chat template, from a folder or the hub. Ids and texts are those of Hugging Face's Rust
// tokenizers, which Python and every inference server use; the library encodes and decodes on its own threads, so
// the event loop never waits. Chat templates are rendered by transformers.js. No network for a folder.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PreTrainedTokenizer } from '@huggingface/transformers';
import { Tokenizer as RustTokenizer } from 'tokenizers';
import { ModelError } from '../../domain/errors.ts';
import type { ChatMessage } from '../../domain/query.ts';
import type { Tokenizer } from '../backend.ts';
import { completeTokenizer, plainTokens, type TokenizerJson } from './from-config.ts';
import {
  checkTokenizerFolder,
  findModelSource,
  hubCacheFolder,
  TOKENIZER_FILES,
  type ModelSource,
} from './model-source.ts';

export interface ModelTokenizer extends Tokenizer {
  /** Pad and EOS ids, without repetition. */
  readonly stopTokenIds: readonly number[];
  /** Largest id plus one. */
  readonly size: number;
  /** Ids of the special tokens. */
  readonly specialIds: ReadonlySet<number>;
  /** The text of each id by itself; special tokens have none. */
  decodeEach(ids: readonly number[]): Promise<string[]>;
  /** The text of each list of ids, special tokens included. */
  decodeLists(lists: readonly (readonly number[])[]): Promise<string[]>;
}

export async function loadTokenizer(folderOrHubId: string): Promise<ModelTokenizer> {
  return openTokenizer(await findModelSource(folderOrHubId));
}

export async function openTokenizer(source: ModelSource): Promise<ModelTokenizer> {
  if (source.kind === 'folder') await checkTokenizerFolder(source.path);
  const { PreTrainedTokenizer } = await import('@huggingface/transformers');
  try {
    const files = source.kind === 'folder' ? await filesOf(source.path) : await filesFromHub(source.id);
    const config = plainTokens(JSON.parse(files.config) as object);
    const json = completeTokenizer(JSON.parse(files.json) as TokenizerJson, config);
    const special = (json.added_tokens ?? []).filter((token) => token.special === true).map(({ id }) => id);
    return wrap(
      RustTokenizer.fromString(JSON.stringify(json)),
      new PreTrainedTokenizer(NO_VOCABULARY, config),
      files.template,
      new Set(special),
      source.name,
    );
  } catch (cause) {
    throw unreadable(source, cause);
  }
}

interface Files {
  /** tokenizer.json and tokenizer_config.json, as text. */
  readonly json: string;
  readonly config: string;
  /** The chat template, if it is in a separate file. */
  readonly template: string | null;
}

/** transformers.js only renders templates: it gets the configuration without a second copy of the vocabulary. */
export const NO_VOCABULARY = {
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: null,
  post_processor: null,
  decoder: null,
  model: { type: 'BPE', vocab: {}, merges: [] },
};

async function filesOf(folder: string): Promise<Files> {
  const [json, config] = await Promise.all(TOKENIZER_FILES.map((name) => readFile(join(folder, name), 'utf8')));
  // As in Python, a template in a separate file takes precedence over one in the configuration.
  const template = await readFile(join(folder, 'chat_template.jinja'), 'utf8').catch(() => null);
  return { json: json!, config: config!, template };
}

/** The library downloads into its cache. */
async function filesFromHub(id: string): Promise<Files> {
  const { AutoTokenizer, env } = await import('@huggingface/transformers');
  env.cacheDir = hubCacheFolder();
  await AutoTokenizer.from_pretrained(id);
  return filesOf(join(hubCacheFolder(), id));
}

function wrap(
  tokenizer: RustTokenizer,
  templates: PreTrainedTokenizer,
  template: string | null,
  specialIds: ReadonlySet<number>,
  name: string,
): ModelTokenizer {
  const ids = Object.values(tokenizer.getVocab(true));
  const stops = [templates.pad_token, templates.eos_token]
    .map((token: unknown) => (typeof token === 'string' ? tokenizer.tokenToId(token) : null))
    .filter((id) => id !== null);
  const encode = async (text: string, addSpecialTokens: boolean): Promise<number[]> =>
    (await tokenizer.encode(text, null, { addSpecialTokens })).getIds();

  function renderChat(messages: readonly ChatMessage[], tools?: readonly object[]): string {
    if (template === null && !templates.chat_template) {
      throw new ModelError(`The tokenizer of ${name} has no chat template`, {
        reason: 'no-chat-template',
        fix: 'Give rows with `prompt`, which is used unchanged, or a model folder with chat_template.jinja.',
      });
    }
    try {
      return templates.apply_chat_template(
        messages.map((message) => ({ ...message })),
        {
          tokenize: false,
          add_generation_prompt: true,
          chat_template: template,
          ...(tools && { tools: tools.map((tool) => ({ ...tool })) }),
        },
      );
    } catch (cause) {
      throw new ModelError(
        `The chat template of ${name} refuses these messages (${messages.map((m) => m.role).join(', ')})`,
        { reason: 'chat-template-failed', cause },
      );
    }
  }

  return {
    size: ids.reduce((most, id) => Math.max(most, id), -1) + 1,
    stopTokenIds: [...new Set(stops)],
    specialIds,
    decodeEach: (each) =>
      tokenizer.decodeBatch(
        each.map((id) => [id]),
        true,
      ),
    decodeLists: (lists) =>
      tokenizer.decodeBatch(
        lists.map((ids) => [...ids]),
        false,
      ),
    encode: (text) => encode(text, true),
    encodeRendered: (text) => encode(text, false),
    decode: (wanted, { skipSpecialTokens }) => tokenizer.decode([...wanted], skipSpecialTokens),
    renderChat,
    encodeChat: async (messages) => encode(renderChat(messages), false),
    chatTemplate() {
      if (template !== null) return template;
      return templates.chat_template ? String(templates.get_chat_template()) : null;
    },
  };
}

function unreadable(source: ModelSource, cause: unknown): ModelError {
  if (source.kind === 'folder') {
    return new ModelError(`The tokenizer in ${source.path} cannot be read`, {
      reason: 'tokenizer-unreadable',
      fix: 'tokenizer.json must be a Hugging Face "fast" tokenizer.',
      cause,
    });
  }
  return hubUnreachable(source.id, cause);
}

export function hubUnreachable(id: string, cause: unknown): ModelError {
  return new ModelError(`${id} is not a folder here, and the Hugging Face hub did not provide it`, {
    reason: 'model-not-found',
    fix: `Check the name and the network; files once loaded are cached in ${hubCacheFolder()}.`,
    cause,
  });
}
