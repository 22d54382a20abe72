// The options of a run as a Markdown table, from their one definition: docs/settings.md and docs/temporal.md hold what this
// makes, and a test fails when they do not.

import { flagOf } from './config.ts';
import { DEFAULT_OPTIONS, FIELDS, isSetting, type RunOptions } from './options.ts';

/** `names`: flags, for the command line; or fields of `settings`, for a Temporal client. */
export function settingsTable(names: 'flags' | 'fields'): string {
  const keys = (Object.keys(FIELDS) as (keyof RunOptions)[]).filter((key) => names === 'flags' || isSetting(key));
  const rows = keys.map((key) => {
    const name = names === 'flags' ? flagOf(key) : key;
    return `| \`${name}\` | ${defaultOf(key)} | ${FIELDS[key].help.replaceAll('|', '\\|').replaceAll('<', '&lt;')} |`;
  });
  return [`| ${names === 'flags' ? 'option' : 'field'} | default | meaning |`, '|---|---|---|', ...rows].join('\n');
}

function defaultOf(key: keyof RunOptions): string {
  const value = DEFAULT_OPTIONS[key];
  if (key === 'seed') return "from the run's name";
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0)
    ? '–'
    : `\`${String(value)}\``;
}
