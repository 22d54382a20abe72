// The field of a filter or a search: what is typed counts a moment later, and `/` leads to it.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
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
  // The text comes back as the value, trimmed, when more may have been typed.
  const sent = useRef(value);
  useEffect(() => {
    if (value.trim() !== sent.current.trim()) setText(value);
    sent.current = value;
  }, [value]);
  useEffect(() => {
    if (text.trim() === sent.current.trim()) return undefined;
    const timer = setTimeout(() => {
      sent.current = text;
      onText(text);
    }, afterMs);
    return () => clearTimeout(timer);
  }, [text]);
  useLayoutEffect(() => {
    if (first) input.current?.focus();
    return onKey({ '/': () => input.current?.select() });
  }, []);
  return (
    <div class="filter line one">
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
