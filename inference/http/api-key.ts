// The API key of a model's server, or the reason why there is none.

import { ModelError } from '../../domain/errors/errors.ts';
import { readKey } from '../../local/machine/key.ts';

export function readApiKey(name: string | null | undefined, env: NodeJS.ProcessEnv = process.env): string | null {
  if (!name) return null;
  const refuse = (what: string, fix: string): never => {
    throw new ModelError(what, { reason: 'no-api-key', fix });
  };
  return readKey(name, refuse, env);
}
