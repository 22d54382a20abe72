// The options of a run as Markdown, from their one definition: docs/settings.md has the table, docs/temporal.md
// the names of settings, and a test compares.

import { flagOf } from '../../domain/errors/unusable.ts';
import { DEFAULT_OPTIONS, FIELDS, isSetting, type RunOptions } from '../../run/options.ts';

const KEYS = Object.keys(FIELDS) as (keyof RunOptions)[];

/** `flags`: the table of options; names alone: `fields` of `settings`, for a Temporal client. */
export function settingsTable(names: 'flags' | 'fields'): string {
  if (names === 'fields') return listed(KEYS.filter(isSetting));
  const rows = KEYS.map((key) => {
    return `| \`${flagOf(key)}\` | ${defaultOf(key)} | ${FIELDS[key].help.replaceAll('|', '\\|').replaceAll('<', '&lt;')} |`;
  });
  return ['| option | default | meaning |', '|---|---|---|', ...rows].join('\n');
}

/** Four names a line. */
function listed(names: readonly string[]): string {
  const words = names.map((name, i) => `\`${name}\`${i === names.length - 1 ? '.' : ','}`);
  return words.map((word, i) => (i % 4 === 0 ? `${i ? '\n' : ''}${word}` : ` ${word}`)).join('');
}

function defaultOf(key: keyof RunOptions): string {
  const value = DEFAULT_OPTIONS[key];
  if (key === 'seed') return "from the run's name";
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0)
    ? '–'
    : `\`${String(value)}\``;
}
