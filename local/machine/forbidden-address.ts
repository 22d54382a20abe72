// Addresses that no run may name: link-local ones, and those at which clouds serve a machine's secrets. Models, environments,
// judges, buckets and the hub connect by `guardedConnector` alone: each connection is checked, also behind a redirect and
// after name resolution, because a name server may change its answer. Users' addresses are also refused when they are parsed.
// Loopback and private addresses are allowed: most model servers have one. Not covered: what a user's own program asks.

import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import type { buildConnector, fetch } from 'undici';
import { UsageError } from '../../domain/errors/errors.ts';

const METADATA = ['100.100.100.200', '168.63.129.16', '192.0.0.192'];

const LIST = new BlockList();
for (const [address, bits] of [['169.254.0.0', 16], ...METADATA.map((each) => [each, 32] as const)] as const) {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  // The address itself (a list of IPv4 addresses also matches those mapped into IPv6), and its forms in IPv6 transition prefixes.
  LIST.addSubnet(address, bits, 'ipv4');
  LIST.addSubnet(`::${hex}`, 96 + bits, 'ipv6');
  LIST.addSubnet(`::ffff:0:${hex}`, 96 + bits, 'ipv6');
  LIST.addSubnet(`64:ff9b::${hex}`, 96 + bits, 'ipv6');
  LIST.addSubnet(`2002:${hex}::`, 16 + bits, 'ipv6');
}
LIST.addSubnet('fe80::', 10, 'ipv6');
LIST.addAddress('fd00:ec2::254', 'ipv6');
LIST.addAddress('fd20:ce::254', 'ipv6');

/** `host`: as in a URL, an IPv6 address in brackets. False for a name: `lookup` checks its addresses. */
export function isForbiddenAddress(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  const version = isIP(address);
  return version !== 0 && LIST.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

/** Continues the url in an error. */
export const FORBIDDEN = "is a link-local address or a cloud's own, and is never asked";

export class ForbiddenAddress extends UsageError {
  constructor(host: string) {
    super(`${host} ${FORBIDDEN}.`, { reason: 'bad-url', fix: 'Name an address of the server itself.' });
  }
}

/** The refusal that an error of a connection holds, if it holds one. */
export function forbiddenIn(error: unknown): ForbiddenAddress | undefined {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof ForbiddenAddress) return one;
  return undefined;
}

type Answer = (error: Error | null, address: string | LookupAddress[], family?: number) => void;
export type Lookup = (name: string, options: LookupOptions, answer: Answer) => void;

/** A lookup that fails if any of a name's addresses is forbidden. */
function guarded(lookup: Lookup = systemLookup as Lookup): Lookup {
  return (name, options, answer) =>
    lookup(name, options, (error, address, family) => {
      const addresses = Array.isArray(address) ? address.map((one) => one.address) : [address];
      if (!error && addresses.some((one) => isForbiddenAddress(one))) {
        return answer(new ForbiddenAddress(name), address, family);
      }
      answer(error, address, family);
    });
}

/** undici's connector, which connects to no forbidden address. `build`: of the undici that the caller has loaded. */
export function guardedConnector(
  build: typeof buildConnector,
  { timeout, lookup }: { readonly timeout: number; readonly lookup?: Lookup | undefined },
): buildConnector.connector {
  const connect = build({ timeout, lookup: guarded(lookup) });
  return (to, done) => {
    // A name server is asked for names alone.
    if (isForbiddenAddress(to.hostname)) done(new ForbiddenAddress(to.hostname), null);
    else connect(to, done);
  };
}

const CONNECT_MS = 10_000;

/** undici is loaded with the first request: most commands make none. */
async function load(silenceMs: number) {
  const undici = await import('undici');
  const connect = guardedConnector(undici.buildConnector, { timeout: CONNECT_MS });
  return { undici, dispatcher: new undici.Agent({ connect, headersTimeout: silenceMs, bodyTimeout: silenceMs }) };
}

/** `silenceMs`: fails where no byte has arrived for so long; 0: never. */
export function fetchWithin(silenceMs: number): typeof fetch {
  let loaded: ReturnType<typeof load> | undefined;
  return async (url, init) => {
    const { undici, dispatcher } = await (loaded ??= load(silenceMs));
    return undici.fetch(url, { ...init, dispatcher });
  };
}

export const guardedFetch = fetchWithin(0);
