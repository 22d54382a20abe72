// The body of a request: counted while it comes, and parsed only when it is whole and a context could hold it. Guarantees: no
// more of it is kept than its bound, and a client that still sends is told so all the same; the loop parses no large one.

import type { IncomingMessage } from 'node:http';
import { tooLong } from '../domain/agent/index.ts';
import { AgentError } from '../domain/errors/errors.ts';
import { DoubtfulJson, strictJson } from '../domain/text/json-text.ts';
import { compiledScript } from '../local/machine/compiled.ts';
import { openThreads } from '../local/machine/threads.ts';
import { parseBody, RefusedRequest } from './dialects/dialect.ts';
import { DIALECTS } from './dialects/index.ts';

/** The size of a body with a short conversation, or none. */
const FEW_BYTES = 2 ** 20;
/** More than a token of any language has, also where each of its characters is written as an escape of six bytes. */
const BYTES_OF_TOKEN = 32;
const MOST_BYTES = 20 * 2 ** 20;
/** An agent of 5,000 steps has so many. */
const MOST_VALUES = 100_000;
/** Parsed in some milliseconds. */
const AT_ONCE_BYTES = 2 ** 17;

interface BodyForm {
  /** Tokens that the model's context holds. Absent: not known. */
  readonly contextLength?: number | undefined;
  /** The path of the dialect whose request it is. */
  readonly dialect?: string;
  /** Models whose requests have any form. */
  readonly sides?: readonly string[];
}

export interface BodyBytes extends Pick<BodyForm, 'dialect' | 'sides'> {
  readonly bytes: Uint8Array;
}

export type ReadBody = { readonly value: unknown } | { readonly refused: RefusedRequest['facts'] };

/** Throws RefusedRequest. Of a dialect: it has the form of its requests. */
export async function readRequestBody(message: IncomingMessage, form: BodyForm): Promise<unknown> {
  const { dialect, sides } = form;
  // Which model a request names is known when it is read.
  const { length: others } = sides ?? [];
  const bytes = await bytesOf(message, dialect === undefined ? { contextLength: 0 } : others > 0 ? {} : form);
  const asked = { bytes, ...(dialect !== undefined && { dialect }), ...(sides && { sides }) };
  const read = bytes.length > AT_ONCE_BYTES ? await threads.ask(asked) : readBytes(asked);
  if ('refused' in read) throw new RefusedRequest(...read.refused);
  return read.value;
}

const threads = openThreads<BodyBytes, ReadBody>({
  script: () => compiledScript('./body-thread', import.meta.url, AgentError),
  most: 2,
  many: 1,
});

async function bytesOf(message: IncomingMessage, { contextLength }: BodyForm): Promise<Uint8Array> {
  const bound = contextLength === undefined ? MOST_BYTES : FEW_BYTES + BYTES_OF_TOKEN * contextLength;
  const most = Math.min(bound, MOST_BYTES);
  const valuesIn = countValues();
  const parts: Buffer[] = [];
  let bytes = Number(message.headers['content-length'] ?? 0);
  let values = 0;
  if (bytes <= most) {
    bytes = 0;
    // What is refused is read on, before the reply (http.ts).
    for await (const part of message.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += part.length;
      values += valuesIn(part);
      if (bytes > most || values > MOST_VALUES) break;
      parts.push(part);
    }
  }
  if (bytes <= most && values <= MOST_VALUES) return Buffer.concat(parts);
  if (values > MOST_VALUES) throw tooLarge(`has more than ${MOST_VALUES} values of JSON, the most that are read`);
  if (!contextLength || most < bound) throw tooLarge(`has more than ${most} bytes, the most that are read`);
  const held = `of at most ${BYTES_OF_TOKEN} bytes each, and it has more than ${most} bytes`;
  throw new RefusedRequest('context-length', '', `${tooLong(`more than ${contextLength}`, contextLength)}, ${held}`);
}

const tooLarge = (message: string) => new RefusedRequest('too-large', '', message, 413);

/** Counts in each part of a text of JSON where a value may begin: behind an opening or a comma. */
function countValues(): (part: Uint8Array) => number {
  let isText = false;
  let isEscaped = false;
  return (part) => {
    let values = 0;
    for (let at = 0; at < part.length; at++) {
      const byte = part[at];
      if (isText) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isText = false;
      } else if (byte === QUOTE) isText = true;
      else if (byte === COMMA || byte === BRACKET || byte === BRACE) values++;
    }
    return values;
  };
}

const [QUOTE, COMMA, BRACKET, BACKSLASH, BRACE] = [34, 44, 91, 92, 123];

export function readBytes({ bytes, dialect, sides = [] }: BodyBytes): ReadBody {
  try {
    const value = parsed(bytes);
    if (sides.includes((value as { readonly model?: string } | null)?.model ?? '')) return { value };
    const read = DIALECTS.find(({ path }) => path === dialect);
    return { value: read ? parseBody(read.schema, value) : value };
  } catch (error) {
    if (error instanceof RefusedRequest) return { refused: error.facts };
    throw error;
  }
}

function parsed(bytes: Uint8Array): unknown {
  try {
    const text = UTF8.decode(bytes);
    const body = strictJson(text);
    return HALF_CHARACTER.test(text) ? wellFormed(body) : body;
  } catch (error) {
    if (error instanceof DoubtfulJson) throw new RefusedRequest('malformed', '', error.message);
    const problem = error instanceof SyntaxError ? `JSON: ${error.message.slice(0, 200)}` : 'UTF-8';
    throw new RefusedRequest('malformed', '', `is no ${problem}`);
  }
}

/** Throws a TypeError for other bytes. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** An escape that may be half a character: no file of UTF-8 holds one. */
const HALF_CHARACTER = /\\ud[89a-f]/i;

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key.toWellFormed(), wellFormed(part)]));
}
