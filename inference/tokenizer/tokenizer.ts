// A model's own tokenizer and chat template, by transformers.js, from a folder or the hub. Every backend uses
// it: what a model sees and says is decided here and not by a server. Guarantees no network for a folder, and
// that no text is so long that the event loop waits for it.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { PreTrainedTokenizer } from '@huggingface/transformers';

import { ModelError } from '../../domain/errors.ts';
import type { Message } from '../../domain/query.ts';
import type { Tokenizer } from '../backend.ts';
import { byteLevelDecode } from './byte-level-decode.ts';
import { compiledScript } from '../../machine/compiled.ts';
import { LongTexts } from './long-texts.ts';
import {
  checkTokenizerFolder,
  findModelSource,
  hubCacheFolder,
  TOKENIZER_FILES,
  type ModelSource,
} from './model-source.ts';
import { mend } from './rust-rules/mend.ts';
import type { TokenizerFiles } from './tokenizer-engine.ts';

/** A text of this length takes some milliseconds; a longer one is tokenised off the event loop. */
export const LONG_TEXT_CHARS = 4000;

const RECENT_TEXTS = 32;

export interface ModelTokenizer extends Tokenizer {
  /** Pad and EOS ids, without repetition. */
  readonly stopTokenIds: readonly number[];
  /** Largest id plus one. */
  readonly size: number;
  close(): Promise<void>;
}

export async function loadTokenizer(folderOrHubId: string): Promise<ModelTokenizer> {
  return openTokenizer(await findModelSource(folderOrHubId));
}

export async function openTokenizer(source: ModelSource): Promise<ModelTokenizer> {
  if (source.kind === 'folder') await checkTokenizerFolder(source.path);
  const { PreTrainedTokenizer } = await import('@huggingface/transformers');
  try {
    const files = source.kind === 'folder' ? await filesOf(source.path) : await filesFromHub(source.id);
    const tokenizer = new PreTrainedTokenizer(JSON.parse(files.json) as object, JSON.parse(files.config) as object);
    // oxlint-disable-next-line no-underscore-dangle -- the engine is public in the types, and nowhere else to be had
    mend(tokenizer._tokenizer);
    return wrap(tokenizer, files, source.name);
  } catch (cause) {
    throw unreadable(source, cause);
  }
}

interface Files extends TokenizerFiles {
  /** The chat template, where it is in a file of its own. */
  readonly template: string | null;
}

async function filesOf(folder: string): Promise<Files> {
  const [json, config] = await Promise.all(TOKENIZER_FILES.map((name) => readFile(join(folder, name), 'utf8')));
  // As in Python, a template in a file of its own goes before one in the configuration.
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

function wrap(tokenizer: PreTrainedTokenizer, files: Files, name: string): ModelTokenizer {
  const ids = [...tokenizer.get_vocab().values()];
  const known = new Set(ids);
  const stops = [tokenizer.pad_token_id, tokenizer.eos_token_id].filter((id) => Number.isInteger(id));
  const decodeBytes = byteLevelDecode(tokenizer);
  const longTexts = new LongTexts(() => compiledScript('./tokenizer-thread', import.meta.url, ModelError), files);

  // Of all texts, feedback comes again with every turn.
  const recent = new Map<string, readonly number[]>();
  async function encode(text: string, addSpecialTokens: boolean): Promise<number[]> {
    if (text.length > LONG_TEXT_CHARS) return longTexts.encode(text, addSpecialTokens);
    const key = `${addSpecialTokens} ${text}`;
    const ids = recent.get(key) ?? tokenizer.encode(text, { add_special_tokens: addSpecialTokens });
    recent.delete(key);
    recent.set(key, ids);
    if (recent.size > RECENT_TEXTS) recent.delete(recent.keys().next().value!);
    return [...ids];
  }

  function renderChat(messages: readonly Message[]): string {
    if (files.template === null && !tokenizer.chat_template) {
      throw new ModelError(`The tokenizer of ${name} has no chat template`, {
        reason: 'no-chat-template',
        fix: 'Give rows with `prompt`, which is taken as it stands, or a model folder with chat_template.jinja.',
      });
    }
    try {
      return tokenizer.apply_chat_template(
        messages.map(({ role, content }) => ({ role, content })),
        { tokenize: false, add_generation_prompt: true, chat_template: files.template },
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
    encode: (text) => encode(text, true),
    encodeRendered: (text) => encode(text, false),
    decode(wanted, { skipSpecialTokens }) {
      if (decodeBytes) return decodeBytes(wanted, skipSpecialTokens);
      // Ids that stand for nothing (a vocabulary padded to a round size) have no text, as in Python.
      const meant = wanted.filter((id) => known.has(id));
      if (meant.length === 0) return '';
      return tokenizer.decode(meant, {
        skip_special_tokens: skipSpecialTokens,
        clean_up_tokenization_spaces: false,
      });
    },
    renderChat,
    encodeChat: async (messages) => encode(renderChat(messages), false),
    chatTemplate() {
      if (files.template !== null) return files.template;
      return tokenizer.chat_template ? String(tokenizer.get_chat_template()) : null;
    },
    close: () => longTexts.close(),
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
  return new ModelError(`${id} is no folder here, and could not be had from the Hugging Face hub`, {
    reason: 'model-not-found',
    fix: `Check the name and the network; files once loaded are kept in ${hubCacheFolder()}.`,
    cause,
  });
}
