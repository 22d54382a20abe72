// A scripted Backend for workflow and activity tests: answers come from a function of the request, its
// tokenizer is UTF-8 bytes plus three special tokens. Never shown to a user.

import { setTimeout as sleep } from 'node:timers/promises';
import type { GenerateRequest, TextBackend, TextRequest, TokenBackend, Tokenizer } from '../../inference/backend.ts';

const EOS = 256;
const START = 257;
const BOS = 258;
const NAMES: Record<number, string> = { [EOS]: '<end>', [START]: '<start>', [BOS]: '<bos>' };

function bytesOf(text: string): number[] {
  return text.split(/(<end>|<start>|<bos>)/).flatMap((part) => {
    const special = Object.keys(NAMES).find((id) => NAMES[Number(id)] === part);
    return special ? [Number(special)] : [...Buffer.from(part)];
  });
}

export const byteTokenizer: Tokenizer = {
  encode: async (text) => bytesOf(text),
  async decode(ids, { skipSpecialTokens }) {
    const parts: string[] = [];
    let bytes: number[] = [];
    const flush = () => {
      parts.push(Buffer.from(bytes).toString());
      bytes = [];
    };
    for (const id of ids) {
      if (id < 256) bytes.push(id);
      else if (!skipSpecialTokens) {
        flush();
        parts.push(NAMES[id]!);
      }
    }
    flush();
    return parts.join('');
  },
  renderChat: (messages) =>
    `${messages.map((m) => `<start>${m.role}\n${m.content}<end>\n`).join('')}<start>assistant\n`,
  encodeChat: async (messages) => bytesOf(byteTokenizer.renderChat(messages)),
  encodeRendered: async (text) => bytesOf(text),
  chatTemplate: () => null,
};

export interface Script {
  /** The answer to a request, without the end token. Throwing rejects the generation. */
  readonly answer: (request: GenerateRequest, context: string, signal: AbortSignal) => string | Promise<string>;
  readonly delayMs?: number;
  /** Of the weights that answer a request. */
  readonly version?: () => number | { readonly version: number; readonly versionLabel: string };
  readonly contextLength?: number;
  /** The server that answers; without one, the model is embedded. */
  readonly server?: string;
}

export interface ScriptedBackend extends TokenBackend {
  readonly requests: GenerateRequest[];
}

export function scriptedBackend({
  answer,
  delayMs = 0,
  version = () => 0,
  contextLength = 100_000,
  server,
}: Script): ScriptedBackend {
  const requests: GenerateRequest[] = [];
  return {
    requests,
    facts: {
      kind: 'tokens',
      name: 'tiny',
      fingerprint: null,
      vocabSize: 259,
      contextLength,
      stopTokenIds: [EOS],
    },
    tokenizer: byteTokenizer,
    async generate(request, { signal, onProgress }) {
      requests.push(request);
      if (delayMs) await sleep(delayMs, undefined, { signal });
      signal.throwIfAborted();
      const aborted = new Promise<never>((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
      );
      const context = await byteTokenizer.decode(request.contextIds, { skipSpecialTokens: false });
      const text = await Promise.race([answer(request, context, signal), aborted]);
      const all = [...bytesOf(text), EOS];
      const outputIds = all.slice(0, request.maxNewTokens);
      onProgress?.(outputIds.length);
      // They follow from all that is before a token, in whatever chunks it is asked for.
      const behind = (sum: number, id: number) => (sum * 31 + id) % 65_521;
      let before = request.contextIds.reduce(behind, 7);
      const logprobs = outputIds.map((id) => {
        const logprob = -3 - ((id * 7919 + before) % 65_521) / 65_521;
        before = behind(before, id);
        return logprob;
      });
      return {
        outputIds,
        logprobs,
        finish: outputIds.length < all.length ? 'length' : 'stop',
        versions: [{ ...named(version()), start: 0, end: outputIds.length }],
        server: server ?? null,
      };
    },
    close: async () => {},
  };
}

/** A model that takes messages and gives text, as `openai:` does. */
export function scriptedTextBackend(
  answer: (request: TextRequest) => string,
  server = 'http://scripted',
): TextBackend & { readonly requests: TextRequest[] } {
  const requests: TextRequest[] = [];
  return {
    requests,
    facts: { kind: 'text', name: 'scripted-text', fingerprint: null, logprobs: 'unknown' },
    async generate(request, { signal }) {
      signal.throwIfAborted();
      requests.push(request);
      return { text: answer(request), finish: 'stop', server, textLogprobs: [] };
    },
    close: async () => {},
  };
}

const named = (weights: ReturnType<NonNullable<Script['version']>>) =>
  typeof weights === 'number' ? { version: weights } : weights;
