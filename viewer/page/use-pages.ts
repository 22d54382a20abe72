// The rows of a long list by pages: those in sight are asked for, the last few are in memory. When the run changes they
// are asked for again, and the old ones stay until the new ones are there.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Page } from '../model/messages.ts';

const PAGE = 100;
const MOST_PAGES = 20;

export interface Pages<T> {
  /** −1: not known yet. */
  readonly count: number;
  readonly problems: readonly string[];
  readonly error: string | undefined;
  readonly row: (i: number) => T | undefined;
  readonly want: (from: number, to: number) => void;
}

interface Known<T> {
  count: number;
  problems: readonly string[];
  error: string | undefined;
  readonly pages: Map<number, { readonly rows: readonly T[]; readonly asked: string }>;
}

/** `key` stands for the question; `revision` changes when its answer may have changed. */
export function usePages<T>(
  key: string,
  ask: (from: number, count: number) => Promise<Page<T> & { readonly problems?: readonly string[] }>,
  revision: number,
): Pages<T> {
  const known = useRef<Known<T>>({ count: -1, problems: [], error: undefined, pages: new Map() });
  const lastKey = useRef(key);
  const seen = useRef({ from: 0, to: 30 });
  const [, repaint] = useState(0);
  if (lastKey.current !== key) {
    lastKey.current = key;
    known.current = { ...known.current, pages: new Map() };
  }
  const want = useCallback(
    (from: number, to: number) => {
      seen.current = { from, to };
      const mine = known.current;
      const asked = `${key} ${revision}`;
      for (let page = Math.floor(from / PAGE); page * PAGE < Math.max(to, 1); page++) {
        if (mine.pages.get(page)?.asked === asked) continue;
        mine.pages.set(page, { rows: mine.pages.get(page)?.rows ?? [], asked });
        void ask(page * PAGE, PAGE).then(
          (message) => {
            if (known.current.pages !== mine.pages) return;
            known.current.count = message.count;
            known.current.problems = message.problems ?? [];
            known.current.error = undefined;
            mine.pages.delete(page);
            mine.pages.set(page, { rows: message.rows, asked });
            const [oldest] = mine.pages.keys();
            if (mine.pages.size > MOST_PAGES && oldest !== undefined) mine.pages.delete(oldest);
            repaint((n) => n + 1);
          },
          (error: unknown) => {
            if (known.current.pages !== mine.pages) return;
            mine.pages.delete(page);
            known.current.error = error instanceof Error ? error.message : String(error);
            repaint((n) => n + 1);
          },
        );
      }
    },
    [key, revision],
  );
  useEffect(() => want(seen.current.from, seen.current.to), [want]);
  const { count, problems, error, pages } = known.current;
  return { count, problems, error, want, row: (i) => pages.get(Math.floor(i / PAGE))?.rows[i % PAGE] };
}
