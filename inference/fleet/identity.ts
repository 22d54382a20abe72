// Identifies a server's model by its behaviour: the ids of a probe text, and the logprobs of a canary. The probe contains
// every token of the vocabulary that text can contain, so that an exchange of two ids is detected.

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { short } from '../../domain/text/foreign-text.ts';

import { ModelError } from '../../domain/errors/errors.ts';
import { type Canary, isFolder, type ModelIdentity } from '../../domain/weights/model-identity.ts';
import type { Tokenizer } from '../backend.ts';
import type { Http } from '../http/http.ts';
import type { Peek } from './logprob-canary.ts';
import { tokenizerHashes } from '../tokenizer/model-files.ts';
import { numbers } from '../http/reply-lists.ts';
import { SLOW_TIMEOUTS, parseReply } from './server-backend.ts';
import type { ServedTokenizer } from '../tokenizer/server-tokenizer.ts';
import type { ModelTokenizer } from '../tokenizer/tokenizer.ts';

/** Ordinary words of several kinds, with a range of probabilities. */
const CANARY_TEXT =
  'The capital of France is Paris, and 17 + 25 = 42. def add(a, b):\n    return a + b\nEs war einmal ein König, der ' +
  'hatte drei Töchter. Давным-давно жил старик. 从前有一个国王。 If x^2 = 9, then x = 3 or x = -3. \\frac{1}{2} \\boxed{7} ' +
  'To be, or not to be: that is the question. SELECT name FROM users WHERE id = 1; Water boils at 100 °C.';
const CANARY_TOKENS = 96;

export interface Question {
  readonly http: Http;
  /** The name under which it is served. */
  readonly name: string;
  readonly served: ServedTokenizer;
  /** The length of the model's context. */
  readonly contextLength: number;
  /** Logprobs of these ids, and of possible next tokens. Null if the server returns none. */
  readonly canary: (ids: readonly number[]) => Promise<Canary | null>;
}

export async function identityOf({ http, name, served, contextLength, canary }: Question): Promise<ModelIdentity> {
  const { tokenizer, folder } = served;
  const ids = (await canaryIds(tokenizer)).slice(0, Math.max(0, contextLength - 2));
  return {
    name: isFolder(name) ? null : name,
    ...(await tokenizerHashes(folder)),
    probe: await probeOf(http, name, served),
    weights: null,
    canary: ids.length > 0 ? await canary(ids) : null,
  };
}

/** Four digits exceed the noise, and take little space. */
export function canaryOf(
  given: readonly (readonly [id: number, logprob: number | null])[],
  peek: Peek | null,
  version: string | null,
): Canary | null {
  const round = (logprob: number) => Math.round(logprob * 1e4) / 1e4;
  const values: Record<string, number> = {};
  for (const [place, [id, logprob]] of given.entries()) if (logprob !== null) values[`${place}:${id}`] = round(logprob);
  for (const [id, logprob] of peek?.byId ?? []) values[`top:${id}`] = round(logprob);
  return Object.keys(values).length > 0 ? { version, values } : null;
}

/** Ids of the canary's text: as many of these as the context holds are sent. */
async function canaryIds(tokenizer: Tokenizer): Promise<number[]> {
  return (await tokenizer.encodeRendered(CANARY_TEXT)).slice(0, CANARY_TOKENS);
}

/** The probe of a server with this tokenizer. */
export async function probeHash(tokenizer: ModelTokenizer): Promise<string> {
  const hash = createHash('sha256');
  for (const { ids } of await probeTexts(tokenizer)) hash.update(JSON.stringify(ids));
  return hash.digest('hex');
}

const Tokens = z.object({ tokens: numbers });

/** Null if the server has no tokenize endpoint. */
async function probeOf(http: Http, model: string, { tokenizer }: ServedTokenizer): Promise<string | null> {
  for (const { text, ids } of await probeTexts(tokenizer)) {
    const there = await tokenise(http, model, text);
    if (there === null) return null;
    if (!holds(there, ids)) throw await otherIds(http.url, tokenizer, ids, there);
  }
  // Compared, not hashed: the hash in the records of earlier runs lacks it.
  const ids = await tokenizer.encodeRendered(BYTES_TEXT);
  const there = await tokenise(http, model, BYTES_TEXT);
  if (there !== null && !holds(there, ids)) throw await otherIds(http.url, tokenizer, ids, there);
  return probeHash(tokenizer);
}

async function tokenise(http: Http, model: string, prompt: string): Promise<readonly number[] | null> {
  try {
    const body = { model, prompt, add_special_tokens: false };
    return parseReply(Tokens, await http.post('/tokenize', body, { timeouts: SLOW_TIMEOUTS }), http.place('/tokenize'))
      .tokens;
  } catch (error) {
    if (error instanceof ModelError && (!error.retryable || error.flaw !== undefined)) return null;
    throw error;
  }
}

/** The same ids; a server may add its BOS and EOS tokens in any case. */
function holds(there: readonly number[], ids: readonly number[]): boolean {
  const more = there.length - ids.length;
  if (more < 0 || more > 2) return false;
  return Array.from({ length: more + 1 }, (_, from) => from).some((from) =>
    ids.every((id, i) => there[from + i] === id),
  );
}

async function otherIds(
  url: string,
  tokenizer: Tokenizer,
  here: readonly number[],
  there: readonly number[],
): Promise<ModelError> {
  const at = here.findIndex((id, i) => there[i] !== id);
  const ids = (list: readonly number[]) => list.slice(at, at + 3).join(', ') || 'nothing';
  const near = here.slice(Math.max(0, at - 1), at + 3);
  const text = short(await tokenizer.decode(near, { skipSpecialTokens: false }), 500);
  return new ModelError(
    `${url} has another tokenizer than this run: ${JSON.stringify(text)} begins with the ids ${ids(there)} there, ${ids(here)} here`,
    {
      reason: 'other-tokenizer',
      fix: 'Name the tokenizer of the model that is served: --tokenizer <folder or hub id>.',
    },
  );
}

interface ProbeText {
  readonly text: string;
  readonly ids: readonly number[];
}

/** Rare characters that contain every byte of UTF-8: tokens that are parts of characters occur in no other text. */
const BYTES_TEXT = [
  ...Array.from({ length: 64 }, (_, i) => 0x10c00 + i),
  ...Array.from({ length: 30 }, (_, i) => (i + 2) * 64 + 0x35),
  ...Array.from({ length: 16 }, (_, i) => i * 0x1000 + 0xa7a),
  ...[0x10f70, 0x4ff7a, 0x8ff7a, 0xcff7a, 0x10ff7a],
]
  // Surrogates are not characters; another character has the same first byte.
  .map((code) => String.fromCodePoint(code >= 0xd800 && code <= 0xdfff ? 0xd7a3 : code))
  .join('\n');

const PROBE_CHARS = 32_000;
/** Number of ids decoded in one call. */
const AT_ONCE = 1000;
const probes = new WeakMap<ModelTokenizer, Promise<readonly ProbeText[]>>();

function probeTexts(tokenizer: ModelTokenizer): Promise<readonly ProbeText[]> {
  const known = probes.get(tokenizer) ?? makeProbe(tokenizer);
  probes.set(tokenizer, known);
  return known;
}

/** One line per token: most lines are that token again. Special tokens and parts of characters are left out. */
async function makeProbe(tokenizer: ModelTokenizer): Promise<ProbeText[]> {
  const texts: string[] = [];
  let text = '';
  for (let from = 0; from < tokenizer.size; from += AT_ONCE) {
    const ids = Array.from({ length: Math.min(AT_ONCE, tokenizer.size - from) }, (_, i) => from + i);
    for (const token of await tokenizer.decodeEach(ids)) {
      if (token === '' || token.includes('\uFFFD')) continue;
      text += `${token}\n`;
      if (text.length > PROBE_CHARS) texts.push(text.slice(0, -1));
      if (text.length > PROBE_CHARS) text = '';
    }
  }
  if (text !== '') texts.push(text.slice(0, -1));
  const probe: ProbeText[] = [];
  for (const each of texts) probe.push({ text: each, ids: await tokenizer.encodeRendered(each) });
  return probe;
}
