// A backend that a test opened by its spec, as the kind that the test expects.

import { createBackend } from '../../inference/index.ts';
import type { Backend, TextBackend, TokenBackend } from '../../inference/backend.ts';

export function asTokens(backend: Backend): TokenBackend {
  if ('tokenizer' in backend) return backend;
  throw new Error(`${backend.facts.name} is a text backend`);
}

export function asText(backend: Backend): TextBackend {
  if (!('tokenizer' in backend)) return backend;
  throw new Error(`${backend.facts.name} is a token backend`);
}

export const createTokenBackend = async (...args: Parameters<typeof createBackend>): Promise<TokenBackend> =>
  asTokens(await createBackend(...args));
