// How the hub is reached, by the variables of Python's `huggingface_hub`, whose cache is shared.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { DatasetError } from '../../domain/errors/errors.ts';
import { readRegular } from '../../local/machine/regular-file.ts';
import type { Environment } from '../../local/machine/user-folders.ts';

export interface HubSettings {
  /** Without a slash at its end. */
  readonly endpoint: string;
  readonly isOffline: boolean;
  readonly cache: string;
  /** Undefined: everybody's. */
  readonly token: string | undefined;
}

const MOST_TOKEN_BYTES = 1 << 16;

export function hubSettings(env: Environment): HubSettings {
  const path = (given: string) => given.replace(/^~(?=\/|$)/, homedir());
  const caches = env['XDG_CACHE_HOME'] || '~/.cache';
  const home = path(env['HF_HOME'] || join(caches, 'huggingface'));
  const tokenFile = path(env['HF_TOKEN_PATH'] || join(home, 'token'));
  return {
    endpoint: (env['HF_ENDPOINT'] || 'https://huggingface.co').replace(/\/+$/, ''),
    isOffline: /^(?:1|on|yes|true)$/i.test(env['HF_HUB_OFFLINE'] ?? ''),
    cache: path(env['HF_HUB_CACHE'] || env['HUGGINGFACE_HUB_CACHE'] || join(home, 'hub')),
    token:
      tokenOf(env['HF_TOKEN'] || env['HUGGING_FACE_HUB_TOKEN'], 'HF_TOKEN') ??
      tokenOf(existsSync(tokenFile) ? readRegular(tokenFile, MOST_TOKEN_BYTES) : undefined, tokenFile),
  };
}

function tokenOf(text: string | undefined, source: string): string | undefined {
  const token = text?.trim();
  if (!token || /^[\x21-\x7e]+$/.test(token)) return token || undefined;
  const fix = 'A token is printable ASCII, no spaces.';
  throw new DatasetError(`The value of ${source} cannot be a token`, { reason: 'hub-refused', fix });
}
