// The API key of a model's server, in an environment variable that the user names: read where it is sent, never printed or stored.

import { ModelError } from '../../domain/errors/errors.ts';

/** Null without a name. Throws for a key that is absent or that no header can hold. */
export function readApiKey(name: string | null | undefined, env: NodeJS.ProcessEnv = process.env): string | null {
  if (!name) return null;
  const key = env[name]?.trim();
  if (key && /^[\x21-\x7e]+$/.test(key)) return key;
  const [message, fix] = key
    ? [`The value of ${name} cannot be a key`, 'A key is printable ASCII, no spaces.']
    : [
        `The environment variable ${name} is empty`,
        'Put the API key there, for every worker: a local service has it after `everturn down`.',
      ];
  throw new ModelError(message, { reason: 'no-api-key', fix });
}
