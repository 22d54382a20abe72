// Light, dark, or as the system has it.

import { rememberChoice } from './remembered.ts';

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
