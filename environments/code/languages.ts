// The registry of programming languages. The first is the default for a fence without a language.

import type { Language } from './language.ts';
import { python } from './python.ts';

export const LANGUAGES: readonly [Language, ...Language[]] = [python];

/** Undefined for an unsupported language. */
export function languageOf(tag: string): Language | undefined {
  return tag === '' ? LANGUAGES[0] : LANGUAGES.find((language) => language.tags.includes(tag));
}
