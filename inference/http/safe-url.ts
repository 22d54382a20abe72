// A url as it may be shown: without credentials and query, where keys hide.

import { short } from '../../domain/text/foreign-text.ts';

export function safeUrl(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname.replace(/\/+$/, '')}`;
  } catch {
    return short(url.replace(/[^/]*@/, ''), 500);
  }
}
