// Another address of the page, without a step in the browser's history.

export function replaceHash(href: string): void {
  if (href !== location.hash) history.replaceState(null, '', href);
  dispatchEvent(new HashChangeEvent('hashchange'));
}
