// `fetch`, which connects to no forbidden address, also behind a redirect. Time limits are the caller's signal.

import type { fetch } from 'undici';
import { guardedConnector } from './forbidden-address.ts';

const CONNECT_MS = 10_000;

/** undici is loaded with the first request: most commands make none. */
async function load() {
  const undici = await import('undici');
  const connect = guardedConnector(undici.buildConnector, { timeout: CONNECT_MS });
  return { undici, dispatcher: new undici.Agent({ connect, headersTimeout: 0, bodyTimeout: 0 }) };
}
let loaded: ReturnType<typeof load> | undefined;

export const guardedFetch: typeof fetch = async (url, init) => {
  const { undici, dispatcher } = await (loaded ??= load());
  return undici.fetch(url, { ...init, dispatcher });
};
