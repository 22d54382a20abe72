// A long list by its pages, in which only the rows around the visible ones exist. Rows have one height and place themselves.
// The browser's own scroll bar, the wheel, touch and the keys of the box all work.

import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState, useCallback } from 'preact/hooks';
import { explainWord } from '../model/words.ts';
import { type Column, Loading, Problem } from './parts.tsx';
import type { Page } from '../model/messages.ts';

const ROW_PX = 38;
const HEAD_PX = 30;
const AROUND = 12;
/** Browsers end at some 16 to 33 million pixels. */
const MOST_ROWS_SHOWN = Math.floor(15_000_000 / ROW_PX);

interface Props<T> {
  /** The name of the table. */
  readonly label: string;
  readonly pages: Pages<T>;
  readonly columns: readonly Column<T>[];
  /** Scrolled into sight when it changes, and its link gets the keys; −1 for none. */
  readonly chosen?: number;
  /** A style of its columns. */
  readonly kind?: string;
  /** The present order, and another one. */
  readonly sort?: string;
  readonly onSort?: (by: string) => void;
  /** Said of a list without rows. */
  readonly none: string;
}

export function VirtualList<T>(props: Props<T>): JSX.Element {
  const { label, pages, columns, chosen = -1, kind = '', sort = '', onSort = () => {}, none } = props;
  const { count, error, want } = pages;
  const box = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState({ from: 0, to: 30 });
  const measure = () => {
    const { scrollTop = 0, clientHeight = 600 } = box.current ?? {};
    const from = Math.max(0, Math.floor(scrollTop / ROW_PX) - AROUND);
    const to = Math.ceil((scrollTop + clientHeight) / ROW_PX) + AROUND;
    setRange((old) => (old.from === from && old.to === to ? old : { from, to }));
  };
  useLayoutEffect(measure, [count]);
  useEffect(() => {
    addEventListener('resize', measure);
    return () => removeEventListener('resize', measure);
  }, []);
  const shown = Math.min(Math.max(0, count), MOST_ROWS_SHOWN);
  const to = Math.min(range.to, shown);
  useEffect(() => want(range.from, to), [range.from, to, want]);
  useEffect(() => {
    const { current } = box;
    if (chosen < 0 || !current) return;
    const [top, bottom] = [chosen * ROW_PX, (chosen + 1) * ROW_PX];
    if (top < current.scrollTop) current.scrollTop = top;
    else if (bottom > current.scrollTop + current.clientHeight - HEAD_PX)
      current.scrollTop = bottom - current.clientHeight + HEAD_PX;
  }, [chosen]);
  return (
    <>
      <Problem text={error} />
      {count < 0 && error === undefined && <Loading error={undefined} />}
      {count === 0 && <p class="dim">{none}</p>}
      <div class={kind} role="table" aria-label={label} aria-rowcount={count} hidden={count < 1}>
        <div ref={box} class="virtual" role="rowgroup" tabIndex={0} onScroll={measure}>
          <div class="tr th" role="row">
            {columns.map(({ name, sort: by, kind: style }) => (
              <span
                key={name}
                role="columnheader"
                class={style}
                aria-sort={directionOf(by, sort)}
                title={explainWord(name)}
              >
                {by === undefined ? name : <Sort name={name} by={by} sort={sort} onSort={onSort} />}
              </span>
            ))}
          </div>
          <div class="all" style={{ height: `${shown * ROW_PX}px` }}>
            {Array.from({ length: Math.max(0, to - range.from) }, (_, n) => {
              const i = range.from + n;
              const row = pages.row(i);
              return (
                <div
                  key={i}
                  ref={row && i === chosen ? focusLink : null}
                  class={`tr row${i === chosen ? ' chosen' : ''}`}
                  role="row"
                  aria-rowindex={i + 1}
                  style={{ top: `${i * ROW_PX}px`, height: `${ROW_PX}px` }}
                >
                  {row &&
                    columns.map(({ name, kind: style, cell }) => (
                      <span key={name} role="cell" class={style}>
                        {cell(row)}
                      </span>
                    ))}
                </div>
              );
            })}
          </div>
        </div>
      </div>
    </>
  );
}

const focusLink = (row: HTMLElement | null): void => row?.querySelector('a')?.focus({ preventScroll: true });

const directionOf = (by: string | undefined, sort: string): 'ascending' | 'descending' | undefined =>
  by === undefined ? undefined : sort === by ? 'ascending' : sort === `-${by}` ? 'descending' : undefined;

interface SortProps {
  readonly name: string;
  readonly by: string;
  readonly sort: string;
  readonly onSort: (by: string) => void;
}

function Sort({ name, by, sort, onSort }: SortProps): JSX.Element {
  const direction = directionOf(by, sort);
  const next = direction === 'descending' ? by : direction === 'ascending' ? '' : `-${by}`;
  return (
    <button type="button" onClick={() => onSort(next)} title={explainWord(name) ?? `Sort by ${name}`}>
      {name} <i aria-hidden="true">{direction === 'ascending' ? '↑' : direction === 'descending' ? '↓' : '↕'}</i>
    </button>
  );
}

const PAGE = 100;
const MOST_PAGES = 20;

interface Pages<T> {
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
