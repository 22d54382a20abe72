// Keys without modifiers, as letters. Not while something is typed; Escape leaves the field first.

export type Keys = Readonly<Record<string, (event: KeyboardEvent) => void>>;

/** Returns the function that takes them away again. */
export function onKey(keys: Keys): () => void {
  const pressed = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const { target } = event;
    if (target instanceof HTMLElement && /^(?:input|textarea|select)$/i.test(target.tagName)) {
      if (event.key === 'Escape') target.blur();
      return;
    }
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (!Object.hasOwn(keys, key)) return;
    event.preventDefault();
    keys[key]!(event);
  };
  addEventListener('keydown', pressed);
  return () => removeEventListener('keydown', pressed);
}
