// Addresses that no model server has: link-local ones, and those at which clouds serve a machine's secrets. Checked
// when a url is parsed and again at each connection, after name resolution, because a name server may change its answer.
// Loopback and private addresses are allowed: most model servers have one.

import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { BlockList, isIP } from 'node:net';

const METADATA = ['100.100.100.200', '168.63.129.16', '192.0.0.192'];

const FORBIDDEN = new BlockList();
for (const [address, bits] of [['169.254.0.0', 16], ...METADATA.map((each) => [each, 32] as const)] as const) {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  // The address itself (a list of IPv4 addresses also matches those mapped into IPv6), and its forms in IPv6 transition prefixes.
  FORBIDDEN.addSubnet(address, bits, 'ipv4');
  FORBIDDEN.addSubnet(`::${hex}`, 96 + bits, 'ipv6');
  FORBIDDEN.addSubnet(`64:ff9b::${hex}`, 96 + bits, 'ipv6');
  FORBIDDEN.addSubnet(`2002:${hex}::`, 16 + bits, 'ipv6');
}
FORBIDDEN.addSubnet('fe80::', 10, 'ipv6');
FORBIDDEN.addAddress('fd00:ec2::254', 'ipv6');

/** `host`: as in a URL, an IPv6 address in brackets. False for a name: `lookup` checks its addresses. */
export function isForbiddenAddress(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  const version = isIP(address);
  return version !== 0 && FORBIDDEN.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

export const FORBIDDEN_CODE = 'ERR_FORBIDDEN_ADDRESS';

type Answer = (error: Error | null, address: string | LookupAddress[], family?: number) => void;
export type Lookup = (name: string, options: LookupOptions, answer: Answer) => void;

/** A lookup that fails if any of a name's addresses is forbidden. */
export function guarded(lookup: Lookup = systemLookup as Lookup): Lookup {
  return (name, options, answer) =>
    lookup(name, options, (error, address, family) => {
      const addresses = Array.isArray(address) ? address.map((one) => one.address) : [address];
      if (!error && addresses.some((one) => isForbiddenAddress(one))) {
        const refused = Object.assign(new Error(`${name} is an address that is not asked`), { code: FORBIDDEN_CODE });
        return answer(refused, address, family);
      }
      answer(error, address, family);
    });
}
