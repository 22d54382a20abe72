// A model's own tokenizer and chat template, from a folder or the hub. Ids and texts are those of Hugging Face's Rust
// tokenizers, which Python and every inference server use; the library encodes and decodes on its own threads, so
// the event loop never waits. No network for a folder.

import { Tokenizer as RustTokenizer } from 'tokenizers';
import { ModelError } from '../../domain/errors/errors.ts';
import type { ChatMessage } from '../../domain/run/query.ts';
import type { Tokenizer } from '../backend.ts';
import { type ChatTemplate, chatTemplateOf } from './chat-template.ts';
import { completeTokenizer, plainTokens, type TokenizerJson } from './from-config.ts';
import { tokenizerFromHub } from './hub.ts';
import {
  checkTokenizerFolder,
  findModelSource,
  optionalModelFile,
  readModelFile,
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
  const folder = source.kind === 'folder' ? source.path : await tokenizerFromHub(source.id);
  try {
    const files = filesOf(folder);
    const config = plainTokens(JSON.parse(files.config) as object);
    const json = completeTokenizer(JSON.parse(files.json) as TokenizerJson, config);
    const special = (json.added_tokens ?? []).filter((token) => token.special === true).map(({ id }) => id);
    return wrap(source.name, {
      tokenizer: RustTokenizer.fromString(JSON.stringify(json)),
      stops: [config['pad_token'], config['eos_token']],
      template: chatTemplateOf(config, files.template),
      specialIds: new Set(special),
    });
  } catch (cause) {
    throw new ModelError(`The tokenizer in ${folder} cannot be read`, {
      reason: 'tokenizer-unreadable',
      fix: 'tokenizer.json must be a Hugging Face "fast" tokenizer.',
      cause,
    });
  }
}

interface Files {
  /** tokenizer.json and tokenizer_config.json, as text. */
  readonly json: string;
  readonly config: string;
  /** The chat template, if it is in a separate file. */
  readonly template: string | null;
}

function filesOf(folder: string): Files {
  const [json, config] = TOKENIZER_FILES.map((name) => readModelFile(folder, name));
  // As in Python, a template in a separate file takes precedence over one in the configuration.
  const template = optionalModelFile(folder, 'chat_template.jinja');
  return { json: json!, config: config!, template };
}

interface Parts {
  readonly tokenizer: RustTokenizer;
  readonly stops: readonly unknown[];
  readonly template: ChatTemplate;
  readonly specialIds: ReadonlySet<number>;
}

function wrap(name: string, { tokenizer, stops, template, specialIds }: Parts): ModelTokenizer {
  const ids = Object.values(tokenizer.getVocab(true));
  const stopTokenIds = stops
    .map((token) => (typeof token === 'string' ? tokenizer.tokenToId(token) : null))
    .filter((id) => id !== null);
  const encode = async (text: string, addSpecialTokens: boolean): Promise<number[]> =>
    (await tokenizer.encode(text, null, { addSpecialTokens })).getIds();

  function renderChat(messages: readonly ChatMessage[], tools?: readonly object[]): string {
    try {
      if (template.text(tools) !== null) return template.render(messages, tools);
    } catch (cause) {
      throw new ModelError(
        `The chat template of ${name} refuses these messages (${messages.map((m) => m.role).join(', ')})`,
        { reason: 'chat-template-failed', cause },
      );
    }
    throw new ModelError(`The tokenizer of ${name} has no chat template`, {
      reason: 'no-chat-template',
      fix: 'Give rows with `prompt`, which is used unchanged, or a model folder with chat_template.jinja.',
    });
  }

  return {
    size: ids.reduce((most, id) => Math.max(most, id), -1) + 1,
    stopTokenIds: [...new Set(stopTokenIds)],
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
    chatTemplate: () => template.text(),
  };
}
