// The running text of a turn, cell by cell, in parts that are made again only when something of their own changes.

import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { TokensMessage } from '../model/messages.ts';
import type { Cell } from '../model/token-cells.ts';
import { inText } from '../model/visible-bytes.ts';

const PART = 400;

export type Colour = 'probability' | 'version';

interface Props {
  readonly cells: readonly Cell[];
  readonly context: TokensMessage['context'];
  readonly colour: Colour;
  readonly chosen: number | null;
  readonly onPoint: (cell: number | null) => void;
  readonly onChoose: (cell: number) => void;
}

export function TokenText({ cells, context, colour, chosen, onPoint, onChoose }: Props): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.querySelector('.chosen')?.scrollIntoView({ block: 'nearest' }), [chosen]);
  const cellAt = (event: Event): number | null => {
    const cell = (event.target as HTMLElement).dataset['cell'];
    return cell === undefined ? null : Number(cell);
  };
  return (
    <div class="token-text">
      <pre class="context masked">
        {context.texts.length > 0 ? context.texts.map(inText).join('') : `${context.ids.length} tokens of context`}
      </pre>
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
        {Array.from({ length: Math.ceil(cells.length / PART) }, (_, part) => (
          <Part
            key={part}
            from={part * PART}
            cells={cells}
            colour={colour}
            chosen={chosen !== null && Math.floor(chosen / PART) === part ? chosen : null}
          />
        ))}
      </div>
    </div>
  );
}

function Part({ from, cells, colour, chosen }: Pick<Props, 'cells' | 'colour' | 'chosen'> & { readonly from: number }) {
  return useMemo(
    () => (
      <span>
        {cells.slice(from, from + PART).map(({ text, [colour]: style }, i) => (
          <span key={i} data-cell={from + i} class={`t ${style}${from + i === chosen ? ' chosen' : ''}`}>
            {inText(text)}
          </span>
        ))}
      </span>
    ),
    [from, cells, colour, chosen],
  );
}
