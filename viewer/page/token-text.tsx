// The running text of a turn, cell by cell. Cells exist only in the parts that are in sight; every other part is the same
// text in one piece, so that its height and the browser's search stay right.

import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { TokensMessage } from '../model/messages.ts';
import { inText } from '../model/visible-bytes.ts';
import type { Cells, Colour } from './token-cells.ts';

const PART = 400;

interface Props {
  readonly cells: Cells;
  readonly tokens: TokensMessage;
  readonly colour: Colour;
  readonly chosen: number | null;
  readonly onPoint: (cell: number | null) => void;
  readonly onChoose: (cell: number) => void;
}

export function TokenText({ cells, tokens, colour, chosen, onPoint, onChoose }: Props): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [near, setNear] = useState<ReadonlySet<number>>(new Set([0]));
  const parts = Math.ceil(cells.count / PART);
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) =>
        setNear((before) => {
          const after = new Set(before);
          for (const { target, isIntersecting } of entries) {
            const part = Number((target as HTMLElement).dataset['part']);
            if (isIntersecting) after.add(part);
            else after.delete(part);
          }
          return after;
        }),
      { rootMargin: '400px' },
    );
    for (const part of box.current?.querySelectorAll('[data-part]') ?? []) observer.observe(part);
    return () => observer.disconnect();
  }, [cells]);
  useEffect(() => {
    if (chosen === null) return;
    const part = Math.floor(chosen / PART);
    setNear((before) => (before.has(part) ? before : new Set([...before, part])));
    // After the part's cells are there.
    requestAnimationFrame(() =>
      box.current?.querySelector(`[data-cell="${chosen}"]`)?.scrollIntoView({ block: 'nearest' }),
    );
  }, [chosen]);
  const cellAt = (event: Event): number | null => {
    const cell = (event.target as HTMLElement).dataset['cell'];
    return cell === undefined ? null : Number(cell);
  };
  return (
    <div class="token-text">
      <pre class="context masked">{contextText(tokens)}</pre>
      <div
        ref={box}
        class="cells"
        tabIndex={0}
        role="group"
        aria-label="Tokens of the answer; arrow keys walk through them"
        onMouseOver={(event) => onPoint(cellAt(event))}
        onMouseLeave={() => onPoint(null)}
        onClick={(event) => {
          const cell = cellAt(event);
          if (cell !== null) onChoose(cell);
        }}
      >
        {Array.from({ length: parts }, (_, part) => (
          <Part
            key={part}
            part={part}
            cells={cells}
            colour={colour}
            near={near.has(part)}
            chosen={chosen !== null && Math.floor(chosen / PART) === part ? chosen : null}
          />
        ))}
      </div>
    </div>
  );
}

function contextText({ context }: TokensMessage): string {
  return context.texts.length > 0 ? context.texts.map(inText).join('') : `${context.ids.length} tokens of context`;
}

interface PartProps {
  readonly part: number;
  readonly cells: Cells;
  readonly colour: Colour;
  readonly near: boolean;
  readonly chosen: number | null;
}

/** Made again only when something of its own changes. */
function Part({ part, cells, colour, near, chosen }: PartProps): JSX.Element {
  return useMemo(() => {
    const from = part * PART;
    const places = Array.from({ length: Math.min(PART, cells.count - from) }, (_, i) => from + i);
    if (!near) return <span data-part={part}>{places.map((cell) => inText(cells.textOf(cell))).join('')}</span>;
    return (
      <span data-part={part}>
        {places.map((cell) => (
          <span key={cell} data-cell={cell} class={`t ${cells.style(cell, colour)}${cell === chosen ? ' chosen' : ''}`}>
            {inText(cells.textOf(cell))}
          </span>
        ))}
      </span>
    );
  }, [part, cells, colour, near, chosen]);
}
