// The key to `everturn view --steer`: it comes in the fragment of the printed address, which no browser sends, and stays
// with this tab and this port. The address loses it at once, so that a copied one only looks.

const NAME = 'everturn-steer';

export function takeSteerKey(): string | null {
  const [path = '', search = ''] = location.hash.split('?');
  const params = new URLSearchParams(search);
  const given = params.get('steer');
  if (given === null) return stored();
  params.delete('steer');
  history.replaceState(null, '', `${path}${params.size > 0 ? `?${params.toString()}` : ''}`);
  try {
    sessionStorage.setItem(NAME, given);
  } catch {
    // Without storage it lasts until the page is loaded again.
  }
  return given;
}

function stored(): string | null {
  try {
    return sessionStorage.getItem(NAME);
  } catch {
    return null;
  }
}
