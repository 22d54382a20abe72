// A choice that this browser remembers, such as light or dark. A report opened from disk may have no storage, and then
// the choice lasts as long as the page.

export interface Remembered<T extends string> {
  get(): T;
  set(value: T): void;
}

/** The first of `values` is the one before any choice. */
export function remembered<const T extends string>(name: string, values: readonly [T, ...T[]]): Remembered<T> {
  let current: T = values[0];
  try {
    current = values.find((value) => value === localStorage.getItem(name)) ?? current;
  } catch {
    // No storage.
  }
  return {
    get: () => current,
    set(value) {
      current = value;
      try {
        localStorage.setItem(name, value);
      } catch {
        // No storage.
      }
    },
  };
}
