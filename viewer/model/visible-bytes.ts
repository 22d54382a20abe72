// A token's text with everything invisible shown: spaces, line ends, controls, format characters, lone surrogates. Pure.
// A token's cell and its details use it; running text stays as it is.

import { visible } from '../../domain/text/foreign-text.ts';

const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Zs}]/gu;
const NAMED: Readonly<Record<string, string>> = { ' ': '␣', '\n': '↵', '\t': '⇥', '\r': '␍', '\u00a0': '⍽' };

/** Each invisible character as a sign or as U+XXXX. */
export function spelled(text: string): string {
  return text.replace(UNSEEN, (char) => {
    const code = char.codePointAt(0)!;
    return NAMED[char] ?? (code < 0x20 ? String.fromCodePoint(0x2400 + code) : `⟨U+${hex(code)}⟩`);
  });
}

/** The text with what would steer or hide shown as signs: line ends, tabs and spaces stay. */
export const plain = (text: string): string =>
  visible(text).replace(/[\p{Co}\p{Cn}\p{Cf}\p{Cs}]/gu, (char) => `⟨U+${hex(char.codePointAt(0)!)}⟩`);

/** Running text: line ends and tabs keep their effect behind a sign, all else invisible is spelled out but spaces. */
export const inText = (text: string): string => plain(text).replace(/\n/g, '↵\n').replace(/\t/g, '⇥\t');

/** UTF-8 bytes in hexadecimal. A lone surrogate has no UTF-8 and shows as U+FFFD’s bytes. */
export function bytes(text: string, limit = 24): string {
  const all = [...new TextEncoder().encode(text)];
  const shown = all.slice(0, limit).map((byte) => byte.toString(16).padStart(2, '0'));
  return shown.join(' ') + (all.length > limit ? ' …' : '');
}

const hex = (code: number): string => code.toString(16).toUpperCase().padStart(4, '0');
