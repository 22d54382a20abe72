// A model's own tokenizer and chat template, by transformers.js, from a folder or the hub. Every backend uses
// it: what a model sees and says is decided here and not by a server. Guarantees no network for a folder.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { PreTrainedTokenizer } from '@huggingface/transformers';

import { ModelError } from '../domain/errors.ts';
import type { Message } from '../domain/query.ts';
import type { Tokenizer } from './backend.ts';
import {
  checkTokenizerFolder,
  findModelSource,
  hubCacheFolder,
  pretrainedName,
  type ModelSource,
} from './model-source.ts';

export interface ModelTokenizer extends Tokenizer {
  /** Pad and EOS ids, without repetition. */
  readonly stopTokenIds: readonly number[];
  /** Largest id plus one. */
  readonly size: number;
}

export async function loadTokenizer(folderOrHubId: string): Promise<ModelTokenizer> {
  return openTokenizer(await findModelSource(folderOrHubId));
}

export async function openTokenizer(source: ModelSource): Promise<ModelTokenizer> {
  if (source.kind === 'folder') await checkTokenizerFolder(source.path);
  const { AutoTokenizer, env } = await import('@huggingface/transformers');
  env.cacheDir = hubCacheFolder();
  let tokenizer: PreTrainedTokenizer;
  try {
    tokenizer = await AutoTokenizer.from_pretrained(pretrainedName(source));
  } catch (cause) {
    throw unreadable(source, cause);
  }
  // As in Python, a template in a file of its own goes before one in the configuration.
  const template =
    source.kind === 'folder'
      ? await readFile(join(source.path, 'chat_template.jinja'), 'utf8').catch(() => null)
      : null;
  return wrap(tokenizer, template, source.name);
}

function wrap(tokenizer: PreTrainedTokenizer, template: string | null, name: string): ModelTokenizer {
  const ids = [...tokenizer.get_vocab().values()];
  const known = new Set(ids);
  const stops = [tokenizer.pad_token_id, tokenizer.eos_token_id].filter((id) => Number.isInteger(id));

  function renderChat(messages: readonly Message[]): string {
    if (!template && !tokenizer.chat_template) {
      throw new ModelError(`The tokenizer of ${name} has no chat template`, {
        reason: 'no-chat-template',
        fix: 'Give rows with `prompt`, which is taken as it stands, or a model folder with chat_template.jinja.',
      });
    }
    try {
      return tokenizer.apply_chat_template(
        messages.map(({ role, content }) => ({ role, content })),
        { tokenize: false, add_generation_prompt: true, ...(template ? { chat_template: template } : {}) },
      );
    } catch (cause) {
      throw new ModelError(
        `The chat template of ${name} refuses these messages (${messages.map((m) => m.role).join(', ')})`,
        {
          reason: 'chat-template-failed',
          cause,
        },
      );
    }
  }

  return {
    size: ids.reduce((most, id) => Math.max(most, id), -1) + 1,
    stopTokenIds: [...new Set(stops)],
    encode: (text) => tokenizer.encode(text),
    decode(wanted, { skipSpecialTokens }) {
      // Ids that stand for nothing (a vocabulary padded to a round size) have no text, as in Python.
      const meant = wanted.filter((id) => known.has(id));
      if (meant.length === 0) return '';
      return tokenizer.decode(meant, {
        skip_special_tokens: skipSpecialTokens,
        clean_up_tokenization_spaces: false,
      });
    },
    renderChat,
    encodeChat: (messages) => tokenizer.encode(renderChat(messages), { add_special_tokens: false }),
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
