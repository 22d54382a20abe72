// The field of a filter or a search: what is typed counts a moment later, and `/` leads to it.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { onKey } from './keys.ts';

interface Props {
  readonly value: string;
  readonly label: string;
  readonly placeholder: string;
  readonly most: number;
  readonly afterMs: number;
  /** Typing begins in it. */
  readonly first?: boolean;
  readonly onText: (text: string) => void;
  readonly children?: ComponentChildren;
}

export function SearchField(props: Props): JSX.Element {
  const { value, label, placeholder, most, afterMs, first = false, onText, children } = props;
  const [text, setText] = useState(value);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => onText(text), afterMs);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    if (first) input.current?.focus();
    return onKey({ '/': () => input.current?.select() });
  }, []);
  return (
    <div class="filter">
      <input
        ref={input}
        type="search"
        value={text}
        placeholder={placeholder}
        aria-label={label}
        spellcheck={false}
        maxLength={most}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {children}
    </div>
  );
}
