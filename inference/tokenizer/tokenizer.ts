// A model's own tokenizer and chat template, from a folder or the hub. Ids and texts are those of Hugging Face's Rust
// tokenizers, which Python and every inference server use; the library encodes and decodes on its own threads, so
// the event loop never waits. No network for a folder.

import { Tokenizer as RustTokenizer } from 'tokenizers';
import { ModelError } from '../../domain/errors/errors.ts';
import { TooManyTokens } from '../../domain/context/new-context.ts';
import type { Tokenizer } from '../backend.ts';
import { type ChatRenderer, openTemplate } from './chat-renderer.ts';
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
    const facts = { name: source.name, config, file: files.template };
    return wrap({
      tokenizer: RustTokenizer.fromString(JSON.stringify(json)),
      stops: [config['pad_token'], config['eos_token']],
      template: openTemplate(facts),
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
  readonly template: ChatRenderer;
  readonly specialIds: ReadonlySet<number>;
}

function wrap({ tokenizer, stops, template, specialIds }: Parts): ModelTokenizer {
  const ids = Object.values(tokenizer.getVocab(true));
  const stopTokenIds = stops
    .map((token) => (typeof token === 'string' ? tokenizer.tokenToId(token) : null))
    .filter((id) => id !== null);

  const { renderChat } = template;
  const encodeRendered = async (text: string, most = Infinity): Promise<number[]> => {
    const encoding = await tokenizer.encode(text, null, { addSpecialTokens: false });
    if (encoding.getLength() > most) throw new TooManyTokens(encoding.getLength());
    return encoding.getIds();
  };

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
    encode: async (text) => (await tokenizer.encode(text, null, { addSpecialTokens: true })).getIds(),
    encodeRendered,
    decode: (wanted, { skipSpecialTokens }) => tokenizer.decode([...wanted], skipSpecialTokens),
    ...template,
    encodeChat: async (messages) => encodeRendered(renderChat(messages)),
  };
}
