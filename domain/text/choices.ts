// Choices of a question: how it lists them, how a listing is read back, and how a text names one of them. The rows of a
// data set and the judge share it. Plain text, without LaTeX. Linear.

export const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** Letters up to J name a choice whatever a question lists. */
const USUAL = 10;

/** A choice with its letter: as it is listed, and as a solution has it. */
export const statedChoice = (place: number, text: string): string => `(${LETTERS[place]}) ${text}`;

/** As they are appended to a question. */
export const listing = (texts: readonly string[]): string => texts.map((text, i) => statedChoice(i, text)).join('\n');

/** Does the text list these choices, by their letters and in this order? */
export function lists(text: string, choices: readonly string[]): boolean {
  const listed = listedChoices(text);
  return choices.every((own, i) => squeezed(listed[i] ?? '').startsWith(squeezed(own)));
}

const squeezed = (text: string): string => text.replace(/\s/g, '');

/** `(A) 4`, `A) 4`, `a ) 4`, `A. 4`, `A: 4`, `（A）4`, `A．4`, `A、4`, `A：4`. */
const STYLES = [
  /(?<![\w)）])[(（]([A-Za-z])[)）]/g,
  /(?<![\w(（])([A-Za-z]) ?[)）]/g,
  /(?<![\w(（])([A-Z])(?:\.(?=\s)|．)/g,
  /(?<![\w(（])([A-Z])(?::(?=\s)|：)/g,
  /(?<=^|\s)([A-Z])、(?![A-Za-z])/g,
];
const LISTED_CHARS = 40_000;

/** The choices that a text lists by letters, from A on: the last such list. Empty if there are fewer than two. */
export function listedChoices(source: string): string[] {
  const text = source.slice(-LISTED_CHARS);
  return STYLES.map((style) => listedIn(text, style)).reduce(
    (most, one) => (one.length > most.length ? one : most),
    [],
  );
}

function listedIn(text: string, style: RegExp): string[] {
  let run: { readonly at: number; readonly from: number }[] = [];
  let best = run;
  for (const { index, 0: mark, 1: letter = '' } of text.matchAll(style)) {
    const place = LETTERS.indexOf(letter.toUpperCase());
    if (place !== run.length && place !== 0) continue;
    if (place === 0) run = [];
    run.push({ at: index, from: index + mark.length });
    if (run.length > 1) best = run;
  }
  return best.map(({ from }, i) => {
    const end = best[i + 1]?.at ?? text.length;
    const [own = ''] = text
      .slice(from, end)
      .trim()
      .split(/\n\s*\n/);
    return own.replace(/[\s,;]+$/, '');
  });
}

export interface Choice {
  readonly letter: string;
  /** The text behind the letter, if there is any. */
  readonly rest: string;
}

/** The last letter that names a choice, of so many that are known. */
export const lastLetter = (known: number): string => LETTERS[Math.min(Math.max(known, USUAL), LETTERS.length) - 1]!;

const NOUN = '(?:[Tt]he )?(?:[Cc]orrect |[Bb]est |[Rr]ight )?(?:[Oo]ption|[Cc]hoice|[Aa]nswer)(?: is)?:? ?';
const OPENED = '[\\[("\'`“]{0,4}';
/** An apostrophe closes what one has opened: `C'` is a name with a prime. */
const CLOSED = String.raw`(?:["\`”]|(?<=(?<!\w)'[^'\n]{0,40})')*`;
const APPROVED = String.raw`(?:is|must be|would be|seems)(?: clearly| therefore)? (?:the )?(?:correct|right|best|true|answer|one)\b(?: (?:answer|choice|option|one)\b)?`;
const REASON = String.raw`(?:because|since|as|for)\b`;

/** A pattern for each last letter. */
function upTo(pattern: (last: string) => RegExp): (last: string) => RegExp {
  const known = new Map<string, RegExp>();
  return (last) => {
    const found = known.get(last) ?? pattern(last);
    known.set(last, found);
    return found;
  };
}

const SOLUTION = upTo(
  (last) =>
    new RegExp(`^(?:${NOUN})?(?:\\(([A-${last}a-${last.toLowerCase()}])\\)|([A-${last}])(?=$|[.):]))[.):]?(.*)$`, 's'),
);

/** A solution that is a choice: `C`, `(C)`, `C.`, `option C`, `(C) 14`; `c` and `c ) 14` where choices are known, `(K) 14` everywhere. */
export function choiceOfSolution(text: string, known = 0): Choice | undefined {
  const usual = SOLUTION(lastLetter(known)).exec(text);
  if (usual) return choice(usual[1] ?? usual[2], usual[3]);
  const small = known > 1 ? /^([a-z])(?: ?[.):](.*))?$/s.exec(text) : null;
  if (small && LETTERS.indexOf(small[1]!.toUpperCase()) < known) return choice(small[1], small[2]);
  const far = /^\(([K-Z])\)( \S.*)$/s.exec(text);
  return far ? choice(far[1], far[2]) : undefined;
}

const choice = (letter = '', rest = ''): Choice => ({ letter: letter.toUpperCase(), rest: rest.trim() });

const ANSWER = upTo((last) => {
  const small = `[a-${last.toLowerCase()}](?=\\s?\\)|[\\]"'\`”.:]*\\s*$)`;
  const behind = String.raw`\s*$|[.:]|\s?[)\]][.:]?|\s?,(?!\s?${OPENED}[A-${last}]\b)|\s[-–—]\s|\s(?=\()|\s(?=${REASON})|\s(${APPROVED})`;
  return new RegExp(`^${OPENED}(?:${NOUN})?${OPENED}([A-${last}]|${small})${CLOSED}(?:${behind})(.*)$`, 's');
});

/** An answer's own text that names a choice first: also `b`, `[B]`, `B: words`, `B - words`, `B (7)`, `B, as …`, "B is correct". */
export function choiceOfAnswer(text: string, last: string): Choice | undefined {
  const [, letter, approved, behind = ''] = ANSWER(last).exec(text) ?? [];
  if (letter === undefined) return undefined;
  const rest = behind.replace(/^["'`”\s]+$/, '');
  return choice(letter, approved !== undefined && !/^[\s,]*or\b/.test(rest) ? '' : rest);
}

/** The text behind the letter is its content, and no further choice, denial or doubt: not `(A) or (B)`, `(A) is wrong`. */
export const namesOneChoice = ({ rest }: Choice): boolean =>
  rest === '' ||
  !(
    /^\s*[a-z]+s (?:the|an?|our|all|this|that)\b|(?<![A-Za-z])[A-Za-z]\)|\?|\b(?:or|and) \(?[A-Z](?![A-Za-z])/.test(
      rest,
    ) ||
    /^[\s.,:;-]*(?:[/&+|]|(?:\(?[A-Z]\)?(?:[\s,]|$))|(?:or|and|not|nor|but|is|isn[’']t|was|can|cannot|can[’']t|could|may|might|maybe|perhaps|possibly|probably|would|wrong|incorrect|rather|never)\b)/i.test(
      rest,
    )
  );

const LINE_CHARS = 400;
/** "not B", "it cannot be B" deny, "if it is B" supposes; "A or B", "A, B" name none. */
const DENIED =
  /(?:\b(?:if|suppose|supposing|assume|assuming|whether|unless|not|never|nor|neither|cannot|eliminates?|excludes?|rules? out)\b|n[’']t\b)[^,.;:]{0,30}$/i;
export const isDenied = (before: string): boolean => DENIED.test(before);
const DENIED_BEHIND = /^["'`”)\]*]*\s+(?:(?:is|was|seems)(?:n[’']t| not| wrong| incorrect| false)|cannot|can[’']t)\b/i;
const ONE_OF_SEVERAL = /(?<![A-Za-z])\(?[A-Z]\)?\s*(?:,|\/|&|,?\s*(?:or|and))\s*[("'`*]*$/;
/** Words with or without a capital. */
const words = (all: string): string =>
  all
    .split(' ')
    .map((word) => `[${word[0]!.toUpperCase()}${word[0]}]${word.slice(1)}`)
    .join('|');
const NAMING = String.raw`(?:${words('choose choosing chose pick select options? choice answer say guess go(?:ing)?\\swith')})(?: is|:)?|(?:choice|option|answer|one|correct|right|best)\b[^.!?\n]{0,20} (?:is|be)`;
/** Words before the letter in which a line ends. */
const CONCLUDING = words('so thus therefore hence is be leaves leaving leaving\\sonly leaves\\sonly us\\swith');

const POINTED = upTo((last) => {
  const letter = `${OPENED}([A-${last}])${CLOSED}[)\\]]?`;
  const named = String.raw`(?<=\b(?:${NAMING}) )${letter}(?=[.,:;!]|\s*$|\s+${REASON})`;
  const approved = String.raw`${letter}(?= ${APPROVED}| is[.!]?\s*$)`;
  const atEnd = String.raw`(?:(?<=^|[.,:;!?—→]\s|\b(?:${CONCLUDING})\s)${letter}|\(([A-${last}])\))(?=[.!]*\s*$)`;
  return new RegExp(String.raw`(?<![\w$\\^{=+*/-])(?:${named}|${approved}|${atEnd})`, 'g');
});

/** The letter that running text names as its choice: the one that opens it, or that its last line ends in or points to. */
export function letterNamed(source: string, last: string): string | undefined {
  const text = source.trim();
  const [first = ''] = text.split('\n', 1);
  const opening = choiceOfAnswer(first, last);
  if (opening && /^[\W_]*[A-Z]/.test(first) && namesOneChoice(opening) && !/^I\s*,/.test(first)) return opening.letter;
  const line = text.slice(text.lastIndexOf('\n') + 1).slice(-LINE_CHARS);
  return undenied(line, [...line.matchAll(POINTED(last))].at(-1));
}

/** "A" and "I" are words as well, where a small letter follows. */
const MENTIONED = /(?<![A-Za-z0-9$\\_^{=+*/-])(?:\(([A-Z])\)|([B-HJ-Z])|([AI])(?!\*{0,2} [a-z]))(?=[.,:;!*\s]|$)/g;

/** The last letter of the last line, where only a letter can be meant. */
export function letterMentioned(source: string, last: string): string | undefined {
  const text = source.trim();
  const line = text.slice(text.lastIndexOf('\n') + 1).slice(-LINE_CHARS);
  const isOne = (m: RegExpExecArray): boolean => m.slice(1).some((one) => one !== undefined && one <= last);
  return undenied(line, [...line.matchAll(MENTIONED)].filter(isOne).at(-1));
}

function undenied(line: string, found: RegExpExecArray | undefined): string | undefined {
  if (!found) return undefined;
  const before = line.slice(0, found.index);
  const behind = line.slice(found.index + found[0].length);
  if (isDenied(before) || ONE_OF_SEVERAL.test(before) || DENIED_BEHIND.test(behind)) return undefined;
  return found.slice(1).find((one) => one !== undefined);
}
