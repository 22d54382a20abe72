// A key in a text that came from outside, whole or a part of it: as it is, behind the escapes of JSON, percent and HTML, as
// base64 or hex. Not covered: other encodings, shorter parts, and token ids whose text it would be.

/** The shortest key that is looked for in an answer; a word in one case is none below the second length. */
const [LEAST_CHARS, WORD_CHARS] = [8, 16];
/** The beginnings of keys, by provider or server: a short one is a key all the same. */
const PREFIX = /^(?:sk|pk|hf|key|api|token|bearer)[-_]./i;
/** A part of a key is recognised by its last characters: the first may be those of all keys of a provider. */
const PART_CHARS = 16;

interface Patterns {
  readonly secret: string;
  readonly whole: RegExp;
  readonly part: RegExp;
}
/** The patterns of the last key, which are made once: a server has one key, and gives many answers. */
let last: Patterns | undefined;

/** The text with `[key]` in its place, and in place of each word that holds a part of it. */
export function withoutSecret(text: string, secret: string): string {
  if (!isSearchable(secret)) return text;
  const { whole, part } = patternsOf(secret);
  return text.replace(whole, '[key]').replace(/[^\s"'<>]+/g, (word) => (word.search(part) < 0 ? word : '[key]'));
}

/** False also for a key that a text may hold by chance. */
export function holdsSecret(text: string, secret: string): boolean {
  return isSearchable(secret) && text.search(patternsOf(secret).part) >= 0;
}

/** False for a key that a text may hold by chance, such as "x", "EMPTY" or "anything". */
function isSearchable(secret: string): boolean {
  const isWord = /^(?:[a-z]+|[A-Z]+)$/.test(secret) && secret.length < WORD_CHARS;
  return PREFIX.test(secret) || (secret.length >= LEAST_CHARS && !isWord);
}

function patternsOf(secret: string): Patterns {
  if (last?.secret !== secret) last = { secret, whole: patternOf([secret]), part: patternOf(partsOf(secret)) };
  return last;
}

const patternOf = (texts: readonly string[]): RegExp => new RegExp(texts.flatMap(spellings).join('|'), 'g');

/** The ends of its quarters: half of a key holds one of them, if that is longer than 30 characters. */
function partsOf(secret: string): string[] {
  const quarter = Math.max(PART_CHARS, Math.ceil(secret.length / 4));
  const ends = Array.from({ length: Math.ceil(secret.length / quarter) }, (_, i) => (i + 1) * quarter);
  return ends.map((end) => Math.min(end, secret.length)).map((end) => secret.slice(Math.max(0, end - PART_CHARS), end));
}

/** Patterns of the text and of its encodings, wherever it begins. A few characters would stand there by chance. */
function spellings(text: string): string[] {
  const escaped = Array.from(text, anyEscape).join('');
  if (text.length < LEAST_CHARS) return [escaped];
  const hex = Array.from(text, (char) => hexOf(char)).join('');
  const base64 = [0, 1, 2].map((before) => {
    // Only the characters whose six bits are all of the text.
    const [from, to] = [Math.ceil((before * 8) / 6), Math.floor(((before + text.length) * 8) / 6)];
    return Array.from(btoa('\0'.repeat(before) + text).slice(from, to), inBase64).join('');
  });
  return [escaped, hex, hex.toUpperCase(), ...base64];
}

/** Two characters of base64 are others in urls. */
const inBase64 = (char: string): string =>
  /\w/.test(char) ? char : `(?:${anyEscape(char)}|${char === '+' ? '-' : '_'})`;

const NAMES: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' };

const hexOf = (char: string): string => char.charCodeAt(0).toString(16).padStart(2, '0');

/** A character as it is, or by a name or number; JSON inside of JSON doubles the backslashes. */
function anyEscape(char: string): string {
  const hex = hexOf(char).replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const plain = char.replace(/[^\w]/g, String.raw`\$&`);
  const entity = String.raw`&(?:#0{0,5}${char.charCodeAt(0)}|#[xX]0{0,5}${hex}|${NAMES[char] ?? '-'});`;
  // Numbers are tried first: they begin with a character that may itself be one of the key.
  const numbered = String.raw`\\{1,4}u00${hex}|%(?:25)?${hex}|${entity}`;
  return /[/"\\]/.test(char) ? String.raw`(?:${numbered}|\\{0,4}${plain})` : `(?:${numbered}|${plain})`;
}
