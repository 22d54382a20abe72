// A list of any length in which only the rows around the visible ones exist. Rows have one height and place themselves.
// The browser's own scroll bar, the wheel, touch and the keys of the box all work.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

const ROW_PX = 38;
const HEAD_PX = 30;
const AROUND = 12;
/** Browsers end at some 16 to 33 million pixels. */
const MOST_ROWS_SHOWN = Math.floor(15_000_000 / ROW_PX);

interface Props {
  /** The name of the table. */
  readonly label: string;
  /** −1: not known yet. */
  readonly count: number;
  /** Scrolled into sight when it changes; −1 for none. */
  readonly chosen?: number;
  /** The cells of the line that stays on top. */
  readonly head: ComponentChildren;
  /** A style of its columns. */
  readonly kind?: string;
  readonly row: (i: number) => ComponentChildren;
  /** The rows that are about to be shown. */
  readonly onRange: (from: number, to: number) => void;
}

export function VirtualList({ label, count, chosen = -1, head, kind = '', row, onRange }: Props): JSX.Element {
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
  useEffect(() => onRange(range.from, to), [range.from, to, onRange]);
  useEffect(() => {
    const { current } = box;
    if (chosen < 0 || !current) return;
    const [top, bottom] = [chosen * ROW_PX, (chosen + 1) * ROW_PX];
    if (top < current.scrollTop) current.scrollTop = top;
    else if (bottom > current.scrollTop + current.clientHeight - HEAD_PX)
      current.scrollTop = bottom - current.clientHeight + HEAD_PX;
  }, [chosen]);
  return (
    <div class={kind} role="table" aria-label={label} aria-rowcount={count}>
      <div ref={box} class="virtual" role="rowgroup" tabIndex={0} onScroll={measure}>
        <div class="tr th" role="row">
          {head}
        </div>
        <div class="all" style={{ height: `${shown * ROW_PX}px` }}>
          {Array.from({ length: Math.max(0, to - range.from) }, (_, i) => row(range.from + i))}
        </div>
      </div>
    </div>
  );
}

interface RowProps {
  readonly i: number;
  readonly chosen?: boolean;
  /** Absent: not there yet. */
  readonly children?: ComponentChildren;
}

export function ListRow({ i, chosen = false, children }: RowProps): JSX.Element {
  return (
    <div
      class={`tr row${chosen ? ' chosen' : ''}`}
      role="row"
      aria-rowindex={i + 1}
      style={{ top: `${i * ROW_PX}px`, height: `${ROW_PX}px` }}
    >
      {children}
    </div>
  );
}
