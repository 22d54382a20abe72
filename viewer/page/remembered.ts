// A text that this browser remembers, such as light or dark; in `sessionStorage` only this tab does. A report opened from disk
// may have no storage: then it lasts as long as the page.

interface Remembered {
  /** Empty before the first one. */
  get(): string;
  set(value: string): void;
}

export function rememberChoice(name: string, storage: () => Storage = () => localStorage): Remembered {
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

/** Empty: as the system. */
const theme = rememberChoice('everturn-theme');

export const applyTheme = (): void => void (document.documentElement.dataset['theme'] = theme.get());

export function nextTheme(): void {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const shown = theme.get() || (dark ? 'dark' : 'light');
  const other = shown === 'dark' ? 'light' : 'dark';
  theme.set((other === 'dark') === dark ? '' : other);
  applyTheme();
}
