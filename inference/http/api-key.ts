// The API key of a server: an environment variable names it; read once, never printed or stored.

import { ModelError } from '../../domain/errors/errors.ts';

export function readApiKey(name: string | null | undefined, env: NodeJS.ProcessEnv = process.env): string | null {
  if (!name) return null;
  const key = env[name]?.trim();
  const refuse = (what: string, fix: string): never => {
    throw new ModelError(what, { reason: 'no-api-key', fix });
  };
  if (!key) return refuse(`The environment variable ${name} is empty`, 'Put the API key there, for every worker.');
  if (!/^[\x21-\x7e]+$/.test(key))
    refuse(`The value of ${name} cannot be a key`, 'A key is printable ASCII, no spaces.');
  return key;
}
