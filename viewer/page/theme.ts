// Light, dark, or as the system has it.

import { remembered } from './remembered.ts';

const theme = remembered('everturn-theme', ['system', 'light', 'dark']);

export function applyTheme(): void {
  const { dataset } = document.documentElement;
  if (theme.get() === 'system') delete dataset['theme'];
  else dataset['theme'] = theme.get();
}

export function nextTheme(): void {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const shown = theme.get() === 'system' ? (dark ? 'dark' : 'light') : theme.get();
  const other = shown === 'dark' ? 'light' : 'dark';
  theme.set((other === 'dark') === dark ? 'system' : other);
  applyTheme();
}
