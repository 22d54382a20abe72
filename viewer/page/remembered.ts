// Something that this browser remembers, such as light or dark; in `sessionStorage` only this tab does. A report opened from
// disk may have no storage: then it lasts as long as the page.

export interface Remembered<T extends string> {
  get(): T;
  set(value: T): void;
}

/** The first of `values` is the one before any choice. */
export function remembered<const T extends string>(name: string, values: readonly [T, ...T[]]): Remembered<T> {
  const kept = keptIn(() => localStorage, name);
  return { get: () => values.find((value) => value === kept.get()) ?? values[0], set: kept.set };
}

/** Any text; empty before the first one. */
export function keptIn(storage: () => Storage, name: string): Remembered<string> {
  let current = '';
  try {
    current = storage().getItem(name) ?? '';
  } catch {
    // No storage.
  }
  return {
    get: () => current,
    set(value) {
      current = value;
      try {
        storage().setItem(name, value);
      } catch {
        // No storage.
      }
    },
  };
}
