// Reads `hf:<org>/<name>[@revision][/config/split]`, also with a split, a configuration or a file alone behind the name.

import { DatasetError } from '../../domain/errors/errors.ts';
import { HUB_SCHEME } from '../../domain/run/hub-source.ts';
import { short } from '../../domain/text/foreign-text.ts';

export interface HubPlace {
  /** `openai/gsm8k` */
  readonly repo: string;
  /** A branch, a tag or a commit. */
  readonly revision: string;
  /** What follows the name. */
  readonly wanted: readonly string[];
}

const NAME = String.raw`\w[\w.-]*`;
const PLACE = new RegExp(`^hf:(${NAME}/${NAME})(?:@((?:refs/(?:convert|pr)/)?${NAME}))?((?:/[^/]+)*)/?$`);

export const isHubPlace = (named: string): boolean => named.startsWith(HUB_SCHEME);

export function parseHubPlace(named: string): HubPlace {
  const [, repo, revision = 'main', rest] = PLACE.exec(named) ?? [];
  if (repo !== undefined && !named.includes('..'))
    return { repo, revision, wanted: rest!.split('/').filter((part) => part !== '') };
  throw new DatasetError(`${short(named, 200)} is no place on the hub`, {
    reason: 'hub-place',
    fix: 'Write hf:<org>/<name>[@revision][/config/split], as in hf:openai/gsm8k/main/test.',
  });
}

const ADDRESS = new RegExp(`^(?:https?://(?:huggingface\\.co|hf\\.co)/datasets/)?(${NAME}/${NAME})/?$`);

/** `hf:openai/gsm8k` of the hub's own ways to name it: `openai/gsm8k`, and the address of its page. */
export function hubPlaceMeant(named: string): string | undefined {
  const repo = ADDRESS.exec(named)?.[1];
  return repo && `${HUB_SCHEME}${repo}`;
}

export const isCommit = (revision: string): boolean => /^[0-9a-f]{40}$/.test(revision);
