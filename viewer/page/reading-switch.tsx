// Texts rendered or as they were written: the switch, and what this browser remembers of it.

import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { onKey } from './keys.ts';
import { rememberChoice } from './remembered.ts';
import { type Reading, ReadingContext } from './rich-text.tsx';

const choice = rememberChoice('everturn-text');
const chosen = (): Reading => (choice.get() === 'raw' ? 'raw' : 'rendered');

interface Props {
  readonly children: (button: JSX.Element) => ComponentChildren;
}

/** Gives its children the switch to show, and the texts in them what was chosen. */
export function WithReading({ children }: Props): JSX.Element {
  const [reading, setReading] = useState(chosen);
  const turn = () => {
    choice.set(chosen() === 'raw' ? 'rendered' : 'raw');
    setReading(chosen());
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
