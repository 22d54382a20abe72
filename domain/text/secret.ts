// A key in a text that came from outside, also where JSON's escapes spell some of its characters. Not covered: other
// encodings (base64, percent), and token ids whose text it would be.

/** At least this long, a key is recognised in an answer; a word in one case is none below the second length. */
const [LEAST_CHARS, WORD_CHARS] = [8, 16];
/** As providers and servers begin theirs. */
const PREFIX = /^(?:sk|pk|hf|key|api|token|bearer)[-_]./i;

/** The key that was matched last: a server has one, and many answers. */
let last: { readonly secret: string; readonly pattern: RegExp } | undefined;

/** The text with `[key]` in its place. */
export function withoutSecret(text: string, secret: string): string {
  return secret === '' ? text : text.replace(patternOf(secret), '[key]');
}

/** False also for a key that an answer may hold by chance, such as "EMPTY" or "anything". */
export function holdsSecret(text: string, secret: string): boolean {
  const isWord = /^(?:[a-z]+|[A-Z]+)$/.test(secret) && secret.length < WORD_CHARS;
  if (!PREFIX.test(secret) && (secret.length < LEAST_CHARS || isWord)) return false;
  return text.search(patternOf(secret)) >= 0;
}

function patternOf(secret: string): RegExp {
  if (last?.secret !== secret) last = { secret, pattern: new RegExp(Array.from(secret, spellings).join(''), 'g') };
  return last.pattern;
}

/** Each character as it is, behind backslashes, or by its number; JSON inside of JSON doubles the backslashes. */
function spellings(char: string): string {
  const code = char.charCodeAt(0).toString(16).padStart(4, '0');
  const number = code.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const plain = char.replace(/[^\w]/g, String.raw`\$&`);
  const escaped = String.raw`\\{1,4}u${number}`;
  // A number is tried first: it begins with a backslash, which may itself be a character of the key.
  return /[/"\\]/.test(char) ? String.raw`(?:${escaped}|\\{0,4}${plain})` : `(?:${escaped}|${plain})`;
}
