// A calculation in plain text that ends in a value: "840 pieces - 825 pieces = 15", "$222 / 6 books = $37". It stands for a noun: the
// words between its numbers are units and names of what they count, and no part of the sentence around it. Linear: one line is read.

export interface Calculation {
  /** The place of its first number. */
  readonly start: number;
  /** Its last link, where that is made of numbers and signs alone. */
  readonly link: string | undefined;
}

interface Token {
  readonly kind: string;
  readonly text: string;
  readonly at: number;
}

const REACH = 400;
const MOST_WORDS = 8;
const NUMBER = String.raw`(?:[$€£]\s?)?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:\s?%)?`;
const SIGN = String.raw`\/\/|[-–−+*/×÷·^]|(?<!\p{L})[xX](?=\s*[($€£\d.]|\s+the\s)|(?<=[\d%]\s?)of(?=\s[$€£\d.])|(?<!\p{L})(?:times|plus|minus|(?:divided|multiplied) by)(?=\s[($€£\d.])`;
const TOKEN = new RegExp(
  String.raw`(?<number>${NUMBER})|(?<sign>${SIGN})|(?<is>=)|(?<open>[([])|(?<close>[)\]])|(?<word>\p{L}{2,}(?:[-'’]\p{L}+)*['’]?|\p{L})|(?<other>\S)`,
  'gu',
);
const plain = (sign: string): string =>
  /^(?:[xX×·]|of|times|mul.*)$/.test(sign)
    ? '*'
    : /^(?:÷|\/\/|div.*)$/.test(sign)
      ? '/'
      : sign === 'plus'
        ? '+'
        : /^(?:minus|[–−])$/.test(sign)
          ? '-'
          : sign;

/** The calculation in front of the sign of equality with which `before` ends. */
export function calculationIn(before: string): Calculation | undefined {
  const from = Math.max(before.lastIndexOf('\n') + 1, before.length - REACH);
  const line = before.slice(from).replace(/[$€£\s]+$/, '');
  if (!line.endsWith('=')) return undefined;
  const tokens: Token[] = [...line.matchAll(TOKEN)].map(({ 0: text, index, groups = {} }) => ({
    kind: Object.keys(groups).find((name) => groups[name] !== undefined) ?? 'other',
    text,
    at: index,
  }));
  const kind = (at: number): string => tokens[at]?.kind ?? '';
  const link: string[] = [];
  let [k, start, signs, depth, worded, linked] = [tokens.length - 2, -1, 0, 0, false, false];
  for (;;) {
    const operand = k;
    while (/^(?:word|close)$/.test(kind(k)) || (k < operand && tokens[k]?.text === '/')) {
      if (kind(k) === 'close') {
        depth++;
        link.unshift(...(linked ? [] : [')']));
      } else if (operand - k > MOST_WORDS || isLetter(tokens, k)) break;
      else worded ||= !linked;
      k--;
    }
    if (kind(k) !== 'number') {
      // "The total = 5 + 3 =", "In total - 5 + 3 =": words lead to the calculation.
      const leads = /^[=–−-]$/.test(tokens[operand + 1]?.text ?? '') && kind(k) !== 'close' && !isLetter(tokens, k);
      if (start < 0 || !leads) return undefined;
      break;
    }
    if (!linked) link.unshift((tokens[k]?.text ?? '').replace(/[$€£,\s]/g, ''));
    // "16,0000"
    worded ||= !linked && /,(?!\d{3}(?!\d))/.test(tokens[k]?.text ?? '');
    // "2 1/2"
    if (kind(k - 1) === 'number' && tokens[k + 1]?.text === '/') {
      worded = true;
      k--;
    }
    while (depth > 0 && kind(k - 1) === 'open') {
      if (!linked) link.unshift('(');
      depth--;
      k--;
    }
    start = tokens[k--]?.at ?? 0;
    // "Ann has 4 + Bob has 6", "12 inches x the length of 36 inches"
    let label = k;
    while (kind(label) === 'word' && k - label < 5 && !isLetter(tokens, label)) label--;
    if (label < k && kind(label) === 'sign') {
      worded ||= !linked;
      k = label;
    }
    const touches = (tokens[k]?.at ?? 0) + (tokens[k]?.text.length ?? 0) === start;
    if (kind(k) === 'sign') {
      if (!linked) link.unshift(plain(tokens[k]?.text ?? ''));
      signs++;
    } else if (kind(k) === 'is') linked = true;
    else if (touches && /^(?:number|close)$/.test(kind(k))) {
      // "2(12 + 8)", "(3 + 1)(2 + 1)"
      if (!linked) link.unshift('*');
      signs++;
      continue;
    } else break;
    k--;
  }
  if (signs === 0 || depth > 0 || /[^\s,:;.([—–"“-]$/u.test(line.slice(0, start))) return undefined;
  // "8 ÷ 2/3"
  const numbers = link.join('');
  return { start: from + start, link: worded || /\/[\d.%]+\//.test(numbers) ? undefined : numbers };
}

/** A letter is an unknown and no unit, unless a blank or a stroke parts it from its number. */
function isLetter(tokens: readonly Token[], k: number): boolean {
  const { text = '', at = 0 } = tokens[k] ?? {};
  const before = tokens[k - 1];
  const parted = before?.text === '/' || (before !== undefined && before.at + before.text.length < at);
  return /^\p{L}$/u.test(text) && !(/^[amgshlLkcWVJN]$/.test(text) && parted);
}
