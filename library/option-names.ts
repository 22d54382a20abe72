// What the library tells a program names an option as the program writes it: `atTurn`, where commands say `--at-turn`. Texts
// are made with flags, in every room, and are changed here, where they leave the library; a command in backticks stays as it is.

import { EverturnError } from '../domain/errors/errors.ts';
import type { RunEvent } from '../run/caller.ts';
import { FIELDS } from '../run/options.ts';
import { METHOD_OPTIONS } from './options.ts';

const NAMES = new Set([...Object.keys(FIELDS), ...METHOD_OPTIONS]);

export function inOptionNames(text: string): string {
  return text.replace(/`([^`]*)`|[^`]+/g, (whole, quoted?: string) => {
    if (quoted === undefined) return named(whole, '`');
    return quoted.startsWith('--') ? `\`${named(quoted, '')}\`` : whole;
  });
}

function named(text: string, quote: string): string {
  return text.replace(/--(no-)?([a-z]+(?:-[a-z]+)*)/g, (flag, no: string | undefined, words: string) => {
    const name = words.replace(/-./g, ([, letter]) => letter!.toUpperCase());
    return NAMES.has(name) ? `${quote}${name}${no ? ': false' : ''}${quote}` : flag;
  });
}

/** Each option in Python's form. */
export const inPython = (text: string): string =>
  text.replace(/\b[a-z]+[A-Z]\w*/g, (word) =>
    NAMES.has(word) ? word.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : word,
  );

/** Bad rows have a fix, which may be an option. */
export function eventInOptionNames(event: RunEvent): RunEvent {
  if (event.type !== 'rows') return event;
  const badRows = event.rows.badRows.map((row) => ({ ...row, fix: inOptionNames(row.fix) }));
  return { ...event, rows: { ...event.rows, badRows } };
}

/** The same error, and its causes. */
export function errorInOptionNames(error: unknown): unknown {
  for (let one = error; one instanceof EverturnError; one = one.cause) {
    const { message, fix, stack } = one;
    const told = inOptionNames(message);
    Object.assign(one, { message: told, stack: stack?.replace(message, () => told) });
    if (fix !== undefined) Object.assign(one, { fix: inOptionNames(fix) });
  }
  return error;
}
