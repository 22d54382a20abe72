// A request that gives a header twice which decides who asks: Node keeps one of the two, and a proxy or server behind may
// keep the other. Such a request is refused by every server of this repository that a browser can reach (RFC 9112, 3.2).

const ONCE = /^(?:host|origin|referer|cookie|authorization|content-length|transfer-encoding|sec-fetch-.*)$/i;

/** The name of the first header that stands twice and may stand once; undefined if there is none. */
export function doubledHeader({ rawHeaders }: { readonly rawHeaders: readonly string[] }): string | undefined {
  const seen = new Set<string>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    if (!ONCE.test(name)) continue;
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}
