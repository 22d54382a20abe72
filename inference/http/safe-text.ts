// A server's words as they may be shown and kept: short, on one line, what cannot be seen made visible, and
// without the API key that some servers say back.

const LONGEST = 500;
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/gu;

export function safeText(text: string, secret: string | null = null): string {
  // Cut before it is spelled out: it may be a megabyte of control characters. Keys are found before the last cut.
  const head = text.slice(0, LONGEST * 40);
  const clean = (secret ? head.replaceAll(secret, '[key]') : head).slice(0, LONGEST + 1).trim();
  const shown = clean.replace(UNSEEN, (c) => (c === '\n' ? ' ' : `\\u{${c.codePointAt(0)!.toString(16)}}`));
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST - 1)}…` : shown;
}

/** A url as it may be shown: credentials and query, where keys hide, are left out. */
export function safeUrl(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname.replace(/\/+$/, '')}`;
  } catch {
    return safeText(url.replace(/[^/]*@/, ''));
  }
}
