// Qualifiers behind the definition of a function that change nothing: "for all x", "\forall x \in \mathbb{R}", "for some
// constant c". Only of a real variable that is the function's own, or a constant that occurs in its body.

const REAL = String.raw`(?:\s*\\in\s*\\mathbb\s*\{?R\}?)?`;
const ALL = new RegExp(
  String.raw`^(?:(?:for (?:all|every|any|each)|where)\s*(?:real\s*)?(?:numbers?\s*)?|\\forall\s*)([a-z])${REAL}(?:\s*is (?:any )?real)?$`,
);
const SOME =
  /^(?:(?:for (?:some|any|all|every|a|an arbitrary)|where|with)\s*)?(?:(?:arbitrary|real|fixed)\s*)*(?:constants?\s*)?([a-z])(?:\s*\\in\s*\\mathbb\s*\{?R\}?|\s*is (?:an?|any|some)?\s*(?:arbitrary |real |fixed )*constant|\s*constant)?$/i;

/** The definition without a qualifier that says what a definition says anyway. */
export function withoutQualifier(text: string): string {
  if (!/^\W*[A-Za-z]\s*\([a-z]\)\s*=/.test(text)) return text;
  const flat = text
    .replace(/\\(?:text|mathrm|mbox)\s*\{([^{}]*)\}/g, ' $1 ')
    .replace(/\$|\\q?quad|\\[,;:! ()]/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/[.,;\s]+$/, '');
  const m = /^ ?([A-Za-z] ?\(([a-z])\) ?=(.*?)),? ?((?:for|where|with) .*|\\forall.*|[a-zA-Z] ?\\in.*)$/.exec(flat);
  const [, definition = '', variable = '', body = '', qualifier = ''] = m ?? [];
  if (definition === '' || /[,;]/.test(body)) return text;
  if (ALL.exec(qualifier)?.[1] === variable) return definition;
  const constant = SOME.exec(qualifier)?.[1];
  const named = constant !== undefined && constant !== variable && /constant|\\in/.test(qualifier);
  return named && body.replace(/\\[A-Za-z]+/g, ' ').includes(constant) ? definition : text;
}

export interface Family {
  readonly body: string;
  readonly letter: string;
  /** Z, N (from 0) or P (from 1). */
  readonly over: 'Z' | 'N' | 'P';
}

const MAX_CHARS = 400;
const SETS = String.raw`\\math(?:bb|bf|rm)\s*\{?([ZN])\}?\s*(?:\^\s*\{?\s*(\+)\s*\}?|_\s*\{?\s*(\+|>\s*0|\\geq?(?:slant)?\s*0)\s*\}?|_0)?`;
const KIND = '((?:positive|non-?negative|natural|whole|any|an?|some|arbitrary|all|every|each)\\s+)*';
const TAILS = [
  new RegExp(
    String.raw`^(.*?)[,;(]?\s*(?:\b(?:for|where|with)\s+)?(?:\b(?:any|all|every|some|each)\s+)?([a-zA-Z])\s*\\in\s*${SETS}\s*\)?$`,
  ),
  new RegExp(
    String.raw`^(.*?)[,;(]?\s*\b(?:for|with)\s+(${KIND}(?:integers?|numbers?)(?:\s+values?\s+of)?)\s+([a-zA-Z])\s*\)?$`,
  ),
  new RegExp(
    String.raw`^(.*?)[,;(]?\s*\b(?:where|for|with)?\s*([a-zA-Z])\s+(?:is|being|are)?\s*(${KIND}(?:integers?|number))\s*\)?$`,
  ),
];

/** `2\pi k, k \in \mathbb{Z}` and the like: what is said of each whole number. */
export function familyOf(text: string): Family | undefined {
  if (text.length > MAX_CHARS || !/\\in|integer|ℤ|ℕ|∈/.test(text)) return undefined;
  const flat = text
    .replace(/ℤ/g, '\\mathbb{Z}')
    .replace(/ℕ/g, '\\mathbb{N}')
    .replace(/∈/g, '\\in ')
    .replace(/\\(?:text|mathrm|mbox)\s*\{([^{}]*)\}/g, ' $1 ')
    .replace(/\\(?:Z|N)(?![A-Za-z])/g, (set) => `\\mathbb{${set.slice(1)}}`)
    .replace(/\$|\\q?quad(?![A-Za-z])|\\[,;:! ]|\\(?:left|right)(?=[(),])/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/[.,;\s]+$/, '')
    .trim()
    .replace(
      /^(?:[a-z] ?\\in ?)?\\\{(.*?)(?:\\mid|\\vert|\||:)(.*\\in ?\\math.*)\\\}$/,
      (_, of: string, on: string) => {
        const own = /^ ?([a-z]) ?= ?(.*)$/.exec(on);
        return own && own[1] === of.trim() ? (own[2] ?? '') : `${of}, ${on.trim()}`;
      },
    );
  const member = TAILS[0]?.exec(flat);
  if (member) {
    const [, body = '', letter = '', set, plus, from] = member;
    const above = plus !== undefined || (from !== undefined && !from.startsWith('\\g'));
    const over = set === 'Z' && plus === undefined && from === undefined ? 'Z' : above ? 'P' : 'N';
    return named(body, letter, over);
  }
  const ahead = TAILS[1]?.exec(flat);
  const behind = ahead ? undefined : TAILS[2]?.exec(flat);
  const [body = '', letter = '', kind = ''] = ahead
    ? [ahead[1], ahead[4], ahead[2]]
    : behind
      ? [behind[1], behind[2], behind[3]]
      : [];
  if (/natural|whole/.test(kind) || !/integer/.test(kind)) return undefined;
  return named(body, letter, /positive/.test(kind) ? 'P' : /negative/.test(kind) ? 'N' : 'Z');
}

/** Angles in one letter that counts by convention. */
export function impliedFamily(text: string): Family | undefined {
  if (text.length > MAX_CHARS || !/\\pi|π|circ|°/.test(text)) return undefined;
  const names = new Set(text.replace(/\\[A-Za-z]+/g, ' ').match(/(?<![A-Za-z])[a-zA-Z](?![A-Za-z])/g) ?? []);
  const counting = [...names].filter((name) => /[knm]/.test(name));
  const [letter] = counting;
  return letter !== undefined && counting.length === 1 ? { body: text, letter, over: 'Z' } : undefined;
}

/** The letter has to run in what stands before. It is read as a k: 2m would be two metres. */
function named(body: string, letter: string, over: Family['over']): Family | undefined {
  const here = new RegExp(`(?<![A-Za-z\\\\])${letter}(?![A-Za-z])`, 'g');
  if (!here.test(body)) return undefined;
  const plain = body.replace(/[,;\s]+$/, '').replace(/,?\s*\b(?:and|where|for)$/, '');
  if (/[kn]/.test(letter) || /(?<![A-Za-z\\])k(?![A-Za-z])/.test(plain)) return { body: plain, letter, over };
  return { body: plain.replace(here, 'k'), letter: 'k', over };
}
