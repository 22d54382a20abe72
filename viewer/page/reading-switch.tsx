// Texts rendered or as they were written: the switch, and what this browser remembers of it.

import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { onKey } from './keys.ts';
import { remembered } from './remembered.ts';
import { type Reading, ReadingContext } from './rich-text.tsx';

const choice = remembered('everturn-text', ['rendered', 'raw']);

interface Props {
  readonly children: (button: JSX.Element) => ComponentChildren;
}

/** Gives its children the switch to show, and the texts in them what was chosen. */
export function WithReading({ children }: Props): JSX.Element {
  const [reading, setReading] = useState<Reading>(choice.get());
  const turn = () => {
    choice.set(choice.get() === 'raw' ? 'rendered' : 'raw');
    setReading(choice.get());
  };
  useLayoutEffect(() => onKey({ r: turn }), []);
  const button = (
    <button
      type="button"
      aria-pressed={reading === 'raw'}
      onClick={turn}
      title="Texts as they were written, without Markdown and formulas (R)"
    >
      raw text
    </button>
  );
  return <ReadingContext.Provider value={reading}>{children(button)}</ReadingContext.Provider>;
}
