// The limit and the weight of each server, as a run's settings give them by url.

import { ModelError } from '../../domain/errors/errors.ts';
import { safeUrl } from '../http/safe-url.ts';

/** Numbers by url as users write urls: a trailing slash or `/v1` is ignored. A url of no server is an error. */
export function numbersByServer<T extends number | null>(
  what: string,
  urls: readonly string[],
  given: Readonly<Record<string, number>>,
  otherwise: T,
): (url: string) => number | T {
  const numbers = new Map<string, number>();
  const mistake = (message: string, fix: string) => new ModelError(message, { reason: 'bad-fleet', fix });
  for (const [named, number] of Object.entries(given)) {
    const plain = named.trim().replace(/\/+$/, '');
    const url = urls.find((each) => each === plain || each === plain.replace(/\/v1$/, ''));
    if (url === undefined) {
      throw mistake(
        `A ${what} is given for ${safeUrl(named)}, which is no server here`,
        `There are ${urls.join(', ')}.`,
      );
    }
    if (!(number > 0 && Number.isFinite(number))) {
      throw mistake(`The ${what} of ${url} is ${number}`, 'Give a number above 0.');
    }
    numbers.set(url, number);
  }
  return (url) => numbers.get(url) ?? otherwise;
}
