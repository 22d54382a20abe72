// The registry: which languages a program may be written in. The first is meant when a fence names none.

import type { Language } from './language.ts';
import { python } from './python.ts';

export const LANGUAGES: readonly [Language, ...Language[]] = [python];

/** Undefined for a language that is not judged here. */
export function languageOf(tag: string): Language | undefined {
  return tag === '' ? LANGUAGES[0] : LANGUAGES.find((language) => language.tags.includes(tag));
}
