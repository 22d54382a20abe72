// The tokenizer of a model on the Hugging Face hub, fetched once into the cache of models; afterwards no network is used.
// A file appears complete, and tokenizer.json as the last one, so that a fetch that is cut off is made again.
// Weights are fetched by transformers.js, into the same folders.

import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ModelError } from '../../domain/errors/errors.ts';
import { guardedFetch } from '../../local/machine/forbidden-address.ts';
import { readApiKey } from '../http/api-key.ts';
import { hubCacheFolder, TOKENIZER_FILES } from './model-source.ts';

const HUB = 'https://huggingface.co';
/** The limits of one file. */
const TIME_MS = 300_000;
const MOST_BYTES = 2 ** 28;
/** The template of newer models; the vocabulary's size and the tokens that end an answer. */
const OPTIONAL = ['chat_template.jinja', 'config.json', 'generation_config.json'];
const LAST_FIRST = TOKENIZER_FILES.toReversed();

/** Returns the folder of the files. */
export async function tokenizerFromHub(id: string, hub = HUB): Promise<string> {
  const folder = join(hubCacheFolder(), id);
  const there = await Promise.all(TOKENIZER_FILES.map((file) => stat(join(folder, file)).catch(() => null)));
  if (there.every((file) => file?.isFile())) return folder;
  try {
    for (const file of OPTIONAL) await fetchInto(folder, { hub, id, file, needed: false });
    for (const file of LAST_FIRST) await fetchInto(folder, { hub, id, file, needed: true });
  } catch (cause) {
    throw cause instanceof ModelError ? cause : hubUnreachable(id, cause);
  }
  return folder;
}

interface Wanted {
  readonly hub: string;
  readonly id: string;
  readonly file: string;
  readonly needed: boolean;
}

async function fetchInto(folder: string, { hub, id, file, needed }: Wanted): Promise<void> {
  const name = ['HF_TOKEN', 'HF_ACCESS_TOKEN'].find((each) => process.env[each]);
  const reply = await guardedFetch(`${hub}/${id}/resolve/main/${file}`, {
    headers: name ? { authorization: `Bearer ${readApiKey(name)}` } : {},
    signal: AbortSignal.timeout(TIME_MS),
  });
  if (!needed && reply.status === 404) return void (await reply.body?.cancel());
  if (!reply.ok) throw new Error(`${file}: the hub answers ${reply.status}`);
  const path = join(folder, file);
  const part = `${path}.${randomUUID()}.part`;
  await mkdir(folder, { recursive: true });
  try {
    await writeFile(part, bounded(file, reply.body!));
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function* bounded(file: string, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const part of body) {
    if ((bytes += part.length) > MOST_BYTES) throw new Error(`${file} has more than ${MOST_BYTES} bytes`);
    yield part;
  }
}

export function hubUnreachable(id: string, cause: unknown): ModelError {
  return new ModelError(`${id} is not a folder here, and the Hugging Face hub did not provide it`, {
    reason: 'model-not-found',
    fix: `Check the name and the network; files once loaded are cached in ${hubCacheFolder()}.`,
    cause,
  });
}
