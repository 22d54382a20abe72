// What a hub refuses, and a hub that does not answer, as errors that say what to do.

import { DatasetError } from '../../domain/errors/errors.ts';
import { short } from '../../domain/text/foreign-text.ts';
import type { HubPlace } from './place.ts';
import type { HubSettings } from './settings.ts';

export function refusalOf(
  { status, headers, url }: Response,
  { repo, revision }: HubPlace,
  { endpoint, token }: HubSettings,
): DatasetError {
  const page = `${endpoint}/datasets/${repo}`;
  const refused = (message: string, fix: string) => new DatasetError(message, { reason: 'hub-refused', fix });
  const away = (message: string, fix: string) => new DatasetError(message, { reason: 'hub-unreachable', fix });
  const { origin, host } = new URL(url);
  if (status === 429) {
    const seconds = /^\d{1,6}$/.exec(headers.get('retry-after') ?? '')?.[0];
    const wait = seconds ? `in ${seconds} s` : 'in some minutes';
    return away(
      `The hub takes no more requests for now (429)`,
      `Repeat the command ${wait}; HF_TOKEN raises the limit.`,
    );
  }
  if (origin !== new URL(endpoint).origin || status >= 500)
    return away(`${host} answers ${status} for ${repo}`, `Repeat the command later. ${OFFLINE}`);
  const code = headers.get('x-error-code');
  if (code === 'GatedRepo' || status === 403) {
    const fix = `Accept its terms at ${page}, and set HF_TOKEN to a token of that account (${endpoint}/settings/tokens).`;
    return refused(
      `${repo} is gated, and ${token ? 'your token may not read it' : 'asked without a token'} (${status})`,
      fix,
    );
  }
  if (code === 'RevisionNotFound')
    return refused(`${repo} has no revision ${short(revision, 80)}`, `Name a branch, a tag or a commit of ${page}.`);
  const [who, beside] = token
    ? ['that your token may read', ', and the token']
    : ['that is open to everybody', '; a private or gated one needs HF_TOKEN'];
  return refused(`The hub has no data set ${repo} ${who} (${status})`, `Check the name at ${page}${beside}.`);
}

const OFFLINE = 'With HF_HUB_OFFLINE=1 it takes what the cache holds.';

export const unreachable = ({ repo }: HubPlace, { endpoint }: HubSettings, cause: unknown): DatasetError =>
  new DatasetError(`${repo} did not arrive from ${endpoint}`, {
    reason: 'hub-unreachable',
    fix: `Check the network and HF_ENDPOINT, and repeat the command. ${OFFLINE}`,
    cause,
  });
