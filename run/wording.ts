// `--system` and `--prompt`: texts, or files of texts, as run.json records them.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { unusable } from '../domain/errors/unusable.ts';
import type { Wording } from '../domain/query/query.ts';
import { short } from '../domain/text/foreign-text.ts';
import { askerOf } from '../formats/datasets/wording.ts';
import { readRegular } from '../local/machine/regular-file.ts';
import type { RunOptions } from './options.ts';

const MOST_BYTES = 1 << 20;

/** Undefined: the rows' own words. A benchmark's are in force where none are given. Throws a UsageError for a file that is not there, and for a template that is none. */
export function wordingOf(
  { system, prompt }: Pick<RunOptions, 'system' | 'prompt'>,
  cwd: string,
  ofBenchmark?: Wording,
): Wording | undefined {
  if (system === null && prompt === null) return ofBenchmark;
  const wording: Wording = {
    ...ofBenchmark,
    ...(system !== null && { system: textIn('--system', system, cwd, (text) => /\s/.test(text)) }),
    ...(prompt !== null && { template: textIn('--prompt', prompt, cwd, (text) => /\{[{%]/.test(text)) }),
  };
  try {
    askerOf(wording);
  } catch (cause) {
    const message = `--prompt is no template: ${short(cause instanceof Error ? cause.message : String(cause), 200)}.`;
    const fix = 'Write Jinja over the fields of a row, as in: Question: {{ question }}';
    throw unusable(message, fix, 'bad-value', cause);
  }
  return wording;
}

/** The content of a file without its last line break, or the text itself. */
function textIn(flag: string, given: string, cwd: string, isText: (given: string) => boolean): string {
  const path = resolve(cwd, given);
  if (given.length < 1000 && existsSync(path)) return readRegular(path, MOST_BYTES).replace(/\r?\n$/, '');
  if (isText(given)) return given;
  const text = flag === '--prompt' ? 'a template: {{ question }}' : 'a sentence.';
  throw unusable(`${flag}: there is no file ${short(given, 200)}.`, `Name a file, or write ${text}`);
}
