// The options of a run as a Markdown table, from their one definition. docs/settings.md, docs/temporal.md and
// docs/variables.md contain these tables, and a test compares.

import { flagOf, variableOf } from '../../run/config.ts';
import { DEFAULT_OPTIONS, FIELDS, isSetting, type RunOptions } from '../../run/options.ts';

const NAMES = {
  flags: ['option', flagOf],
  fields: ['field', String],
  variables: ['variable', variableOf],
} as const;

/** `names`: flags; `settings` fields, for a Temporal client; or environment variables. */
export function settingsTable(names: keyof typeof NAMES): string {
  const keys = (Object.keys(FIELDS) as (keyof RunOptions)[]).filter((key) => names !== 'fields' || isSetting(key));
  const [heading, nameOf] = NAMES[names];
  const rows = keys.map((key) => {
    return `| \`${nameOf(key)}\` | ${defaultOf(key)} | ${FIELDS[key].help.replaceAll('|', '\\|').replaceAll('<', '&lt;')} |`;
  });
  return [`| ${heading} | default | meaning |`, '|---|---|---|', ...rows].join('\n');
}

function defaultOf(key: keyof RunOptions): string {
  const value = DEFAULT_OPTIONS[key];
  if (key === 'seed') return "from the run's name";
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0)
    ? '–'
    : `\`${String(value)}\``;
}
