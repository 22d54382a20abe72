// The addresses of servers, as users write them. http or https, without secrets: a url is stored in run.json, so
// credentials and queries, which may contain keys, are refused and not repeated in the error.

import { UsageError } from '../../domain/errors/errors.ts';
import { FORBIDDEN, isForbiddenAddress } from '../../local/machine/forbidden-address.ts';
import { safeUrl } from './safe-url.ts';

/** `<url>[,<url>…]`: each as it is requested, without a trailing slash or `/v1`. */
export function parseServerUrls(target: string): string[] {
  const urls = target.split(',').map((text) => serverUrl(text.trim()).replace(/\/v1$/, ''));
  const twice = urls.find((url, i) => urls.indexOf(url) < i);
  if (twice !== undefined) {
    throw new UsageError(`${twice} is named twice`, { reason: 'bad-url', fix: 'Name every server once.' });
  }
  return urls;
}

interface OpenaiTarget {
  /** The prefix of `/chat/completions`. */
  readonly url: string;
  readonly model: string;
}

/** `<url>#<model>`. A url without a path means its `/v1`. */
export function parseOpenaiTarget(target: string): OpenaiTarget {
  const hash = target.indexOf('#');
  const model = hash < 0 ? '' : target.slice(hash + 1).trim();
  if (model === '') {
    throw new UsageError(`openai:${safeUrl(target.split('#')[0]!)} names no model`, {
      reason: 'unknown-model',
      fix: 'Right would be openai:<url>#<model>.',
    });
  }
  const url = serverUrl(target.slice(0, hash).trim());
  return { url: new URL(url).pathname === '/' ? `${url}/v1` : url, model };
}

/** An address, as it is requested. */
export function serverUrl(text: string): string {
  const refuse = (what: string, fix: string): never => {
    throw new UsageError(what, { reason: 'bad-url', fix });
  };
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return refuse(`"${safeUrl(text)}" is no url`, 'Right would be http://host:port.');
  }
  const shown = safeUrl(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    // `name:key@host` reads as a url of the scheme `name`.
    refuse(`${text.includes('@') ? 'A url' : shown} is neither http nor https`, 'Right would be http://host:port.');
  }
  if (url.username || url.password) {
    refuse(
      `The url ${shown} holds credentials`,
      'Put the key into an environment variable, and name it: --api-key-env NAME.',
    );
  }
  if (url.search) {
    refuse(`The url ${shown} has a query`, 'Leave it out; a key is named by --api-key-env NAME.');
  }
  if (isForbiddenAddress(url.hostname)) {
    refuse(`${shown} ${FORBIDDEN}`, 'Name an address of the model server itself.');
  }
  if (url.hash) refuse(`The url ${shown} has a fragment`, 'Only openai:<url>#<model> takes a name there.');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
