// Light, dark, or as the system has it. The choice is stored in this browser; a report opened from disk may have no
// storage, and then it lasts as long as the page.

const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];
let current: Theme = stored();

function stored(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem('everturn-theme')) ?? 'system';
  } catch {
    return 'system';
  }
}

export function applyTheme(): void {
  if (current === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = current;
}

export function nextTheme(): Theme {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const shown = current === 'system' ? (dark ? 'dark' : 'light') : current;
  const other = shown === 'dark' ? 'light' : 'dark';
  current = (other === 'dark') === dark ? 'system' : other;
  try {
    localStorage.setItem('everturn-theme', current);
  } catch {
    // No storage: the choice lasts as long as the page.
  }
  applyTheme();
  return current;
}
