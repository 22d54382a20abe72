// The key to `everturn view --steer`: it comes in the fragment of the printed address, which no browser sends, and stays
// with this tab and this port. The address loses it at once, so that a copied one only looks.

import { rememberChoice } from './remembered.ts';

const kept = rememberChoice('everturn-steer', () => sessionStorage);

/** The key of this tab, and from now on the one in the address, if that has one. */
export const takeSteerKey = (): string | null => keyInAddress() ?? (kept.get() || null);

/** Takes it out of the address; null if there is none. */
export function keyInAddress(): string | null {
  const [path = '', search = ''] = location.hash.split('?');
  const params = new URLSearchParams(search);
  const given = params.get('steer');
  if (given === null) return null;
  params.delete('steer');
  history.replaceState(null, '', `${path}${params.size > 0 ? `?${params.toString()}` : ''}`);
  kept.set(given);
  return given;
}
