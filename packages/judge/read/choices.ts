// Choices of a question: how a listing is read, and how a text names one of them. Linear.

import { undressed } from './words.ts';

export const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** Letters up to J name a choice whatever a question lists. */
const USUAL = 10;

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
const CLOSED = String.raw`(?:["\x60”]|(?<=(?<!\w)'[^'\n]{0,40})')*`;
const APPROVED = String.raw`(?:is|must be|would be|seems)(?: clearly| therefore)? (?:the )?(?:correct|right|best|true|answer|one)\b(?: (?:answer|choice|option|one)\b)?`;
const REASON = String.raw`(?:because|since|as|for)\b`;
/** Denials and doubts of other languages. */
const NOT =
  '或|还是|還是|または|또는|(?<!\\p{L})или(?!\\p{L})|不(?!同)|[没沒未非误誤错錯]|排除|ない|ません|間違|아니|아닙|틀[린렸]|ليس|خطأ|(?<!\\p{L})не(?!\\p{L})|नहीं|गलत|নয়|ভুল|ไม่|ผิด';
/** What other languages put behind the letter: "B です", "B选项". */
const CLOSING = String.raw`(?:です|だ|である|[にと]なります|が正|입니다|이다|이에요|예요|[가이] ?(?:정답|맞)|选项|選項|项|項|[是为為]?(?:正确|正確|对|對)|है|হবে|است|верн|правиль|صحيح)(?:(?!${NOT})[^.,;!?]){0,20}(?=[.,;!?]|$)`;

const BETWEEN = String.raw`\s*(?:,\s*and\b|[,;/&和與与及と]|\band\b)\s*`;
const SEVERAL = new RegExp(
  `^(?:the )?(?:correct |right )?(?:(?:options|choices|answers|statements)(?: are)?:? )?((?:[[(]?[A-Z][\\])]?(?:${BETWEEN})?){2,}\\s*)(?:are (?:all )?(?:correct|right|true)|${CLOSING})?[.\\s]*$`,
  'u',
);
const SEVERAL_CHARS = 200;

/** The letters of a text that names several of so many choices, in their order: `ABD`, `A, B, D`, "(A), (B) and (D)"; of any other undefined. */
export function choicesSaid(text: string, known: number): string | undefined {
  const plain = undressed(text)
    .slice(0, SEVERAL_CHARS)
    .replace(/["'\x60]/g, '');
  const letters = (SEVERAL.exec(plain)?.[1]?.match(/[A-Z]/g) ?? []).sort();
  const isSet = letters.length > 1 && new Set(letters).size === letters.length;
  return isSet && LETTERS.indexOf(letters.at(-1)!) < known ? letters.join('') : undefined;
}

const SOLUTION = new RegExp(`^(?:${NOUN})?(?:\\(([A-Za-z])\\)|([A-Z])(?=$|[.):]))[.):]?(.*)$`, 's');
const SMALL = /^([a-z])(?: ?[.):](.*))?$/s;

/** A solution that is a choice: `C`, `(C)`, `C.`, `option C`, `(C) 14`; `c` and `c ) 14` where choices are known, `(K) 14` everywhere. */
export function solutionChoice(text: string, known = 0): Choice | undefined {
  if (!/[A-Za-z]/.test(text) || choicesSaid(text, LETTERS.length) !== undefined) return undefined;
  const plain = undressed(text);
  const [, bracketed, letter = bracketed, rest = ''] = SOLUTION.exec(plain) ?? [];
  const isFar = bracketed !== undefined && /^\([A-Z]\) /.test(plain) && rest.trim() !== '';
  if (letter && (letter.toUpperCase() <= lastLetter(known) || isFar)) return choice(text, letter, rest);
  const [, small = '', behind] = known > 1 ? (SMALL.exec(plain) ?? []) : [];
  return small !== '' && LETTERS.indexOf(small.toUpperCase()) < known ? choice(text, small, behind) : undefined;
}

const HEAD_CHARS = 40;

/** The text behind the letter has its braces: the shortest end of the whole that is the same without them. */
function choice(text: string, letter: string, behind = ''): Choice {
  const rest = behind.trim();
  const named = { letter: letter.toUpperCase(), rest };
  if (rest === '' || !/[\\{}$]/.test(text)) return named;
  for (let at = Math.min(HEAD_CHARS, text.length); at > 0; at--) {
    const end = text.slice(at);
    if (undressed(end) !== rest) continue;
    const open = (end.match(/(?<!\\)\{/g) ?? []).length - (end.match(/(?<!\\)\}/g) ?? []).length;
    const plain = open < 0 ? end.replace(/\}\s*$/, '') : end;
    return { ...named, rest: (plain.split('$').length % 2 === 0 ? plain.replace(/\$\s*$/, '') : plain).trim() };
  }
  return named;
}

const SMALL_ALONE = String.raw`[a-z](?=\s?\)|[\]"'\x60”.:]*\s*$|[.:]\s)`;
const BEHIND = String.raw`\s*$|[.:]|\s?[)\]]{1,2}[.:]?|\s?,(?!\s?${OPENED}[A-Z]\b)|\s[-–—]\s|\s(?=\()|\s(?=${REASON})|(\s${APPROVED}|\s?${CLOSING})`;
const ANSWER = new RegExp(
  `^(?:not \\(?[A-Z]\\)?,? but )?${OPENED}(?:${NOUN})?${OPENED}([A-Z]|${SMALL_ALONE})${CLOSED}(?:${BEHIND})(.*)$`,
  'su',
);

/** An answer's own text that names a choice up to `last` first: also `b`, `[B]`, `B: words`, `B - words`, `B (7)`, `B, as …`, "B is correct". */
export function answerChoice(text: string, last: string): Choice | undefined {
  const [, letter, approved, behind = ''] = ANSWER.exec(undressed(text)) ?? [];
  if (letter === undefined || letter.toUpperCase() > last) return undefined;
  const rest = behind.replace(/^["'`”\s]+$/, '');
  return choice(text, letter, approved !== undefined && !/^[\s,]*or\b/.test(rest) ? '' : rest);
}

/** "unlike A, B and C" */
const CONTRAST = /,?\s(?:unlike|whereas|while|rather than|instead of|as opposed to)\s.*$/s;

/** The text behind the letter is its content, and no further choice, denial or doubt: not `(A) or (B)`, `(A) is wrong`. */
export const namesOneChoice = ({ rest }: Choice): boolean =>
  rest === '' ||
  !(
    /(?<![A-Za-z])[A-Za-z]\)|\?|\b(?:or|and) \(?[A-Z](?![A-Za-z])/.test(rest.replace(CONTRAST, '')) ||
    /^[\s.,:;-]*(?:[/&+|]|(?:\(?[A-Z]\)?(?:[\s,]|$))|(?:or|and|not|nor|but|is|isn[’']t|was|can|cannot|can[’']t|could|may|might|maybe|perhaps|possibly|probably|would|wrong|incorrect|rather|never)\b)/i.test(
      rest,
    )
  );

const LINE_CHARS = 400;
/** "not B", "it cannot be B" deny, "if it is B" supposes; "A or B", "A, B" name none. */
const DENIED =
  /(?:\b(?:if|suppose|supposing|assume|assuming|whether|unless|not|never|nor|neither|cannot|eliminates?|excludes?|rules? out)\b|n[’']t\b)(?:(?!\bbut\b)[^,.;:]){0,30}$|(?:不(?![难難同])|[没未非若误誤错錯除]|如果|假如)[^,.;:]{0,3}$|(?:^|\s)(?:no es|não é|non|nicht|pas|niet|inte|bukan|không|all but|except)(?:\s[^,.;:]{0,20})?$/i;
export const isDenied = (before: string): boolean => DENIED.test(before);
const DENIED_BEHIND = /^["'`”)\]*]*\s+(?:(?:is|was|seems)(?:n[’']t| not| wrong| incorrect| false)|cannot|can[’']t)\b/i;
const ONE_OF_SEVERAL =
  /(?<![A-Za-z])\(?[A-Z]\)?\s*(?:,|\/|&|\s*(?:[或和与與及]|还是|還是|また?は|と|또는)|,?\s*(?:or|and|oder|und|ou?|et?|y|eller|of|atau|hoặc|или|أو|و|या))\s*[("'`*]*$/;
/** Words with or without a capital. */
const inEitherCase = (all: string): string =>
  all
    .split(' ')
    .map((word) => `[${word[0]!.toUpperCase()}${word[0]}]${word.slice(1)}`)
    .join('|');
const NAMING = String.raw`(?:${inEitherCase('choose choosing chose pick select options? choice answer say guess go(?:ing)?\\swith')})(?: is|:)?|(?:choice|option|answer|one|correct|right|best)\b[^.!?\n]{0,20} (?:is|be)`;
/** Words before the letter in which a line ends. */
const CONCLUDING = `${inEitherCase("so thus therefore hence is be leaves leaving leaving\\sonly leaves\\sonly us\\swith probably likely definitely it[’']s think")}|not\\s\\(?[A-Z]\\)?,?\\sbut`;
const NOUNS =
  'lettre|réponse|option|respuesta|resposta|risposta|opción|opção|opzione|letra|lettera|alternativa|buchstabe|antwort';
/** "is", as languages in Latin letters lead with it to an answer: "est la lettre B". A small `a` may be a letter as well as an article. */
const COPULA = String.raw`(?<!\p{L})(?:est|es|ist|lautet|é|è|är|je|adalah|là|este)(?!\p{L})(?:\s(?:donc|also|pues|portanto|quindi|dunque))?(?:\s(?:la|le|el|il|die|der|das|une?|eine?|una|uma?)(?=\s\p{L})|\s[ao](?=\s(?:${NOUNS})))?(?:\s(?:${NOUNS}))?`;

const LETTER_AHEAD = String.raw`(?=[(["'*\s]{0,4}[A-Z](?![A-Za-z]))`;
const LETTERS_AHEAD = String.raw`(?=[(["'*\s]{0,4}[A-Z]{1,9}(?![A-Za-z]))`;
/** "Answer" in other writings. */
const MARKS = '答案|正解|答え|정답|الجواب|الإجابة|الاجابة|پاسخ|ответ|উত্তর|उत्तर|คำตอบ|תשובה';
/** The words behind which a text states its answer, in languages that models are asked in. */
const STATES = [
  String.raw`\banswers?\**\s{0,9}(?:(?:to|for|of)\b[^.\n:]{0,80}?)?\s{0,9}(?:is|[’']s|are|(?:should|must|would|will|has to) be|:|=|\s[-–—]\s)\**\s{0,9}:?\**`,
  String.raw`\b(?:correct|right|true) (?:option|choice|answer|statement|one)s? (?:is|are|(?:should|must|would|will) be)\**:?\**`,
  String.raw`(?<!\p{L})(?:réponse|respuesta|antwort|lösung|resposta|risposta|antwoord|svaret|odpověď|jawaban|răspunsul|đáp án|trả lời|solución|solução|soluzione)(?!\p{L})(?:(?!\s(?:no|non|não|nicht|ne|niet|inte|bukan|không)\s|\sn[’'])[^.!?:\n]){0,30}?(?:${COPULA}|\sis(?!\p{L})|:)\**`,
  String.raw`(?:${MARKS})\**\s?(?:[是为為は은는]|:)\**\s?:?\**`,
];
/** Before a letter also those of a correction, and of other writings, in which words may stand behind a value without a blank. */
const NAMES = [
  String.raw`\b(?:actually|correction|I mean|make that)[,:]?\s+(?:it(?:[’']s|\sis)\s+)?${LETTER_AHEAD}`,
  String.raw`(?:${MARKS}|回答|解答|답[은:]|选(?!项)择?|選(?![項択])擇?)(?:(?!${NOT})[^\p{Script=Latin}\p{N}.,;!?\n\\|=+-]){0,20}${LETTERS_AHEAD}`,
];
export const STATING = new RegExp(STATES.join('|'), 'giu');
export const STATING_CHOICE = new RegExp([...NAMES, ...STATES].join('|'), 'giu');

const LETTER = String.raw`${OPENED}([A-Z])${CLOSED}[)\]]?`;
const POINTED = new RegExp(
  String.raw`(?<![\w$\\^{=+*/-])(?:${[
    String.raw`(?<=\b(?:${NAMING}) )${LETTER}(?=[.,:;!]|\s*$|\s+${REASON}|\s[-–—]\s)`,
    String.raw`${LETTER}(?= ${APPROVED}| is[.!]?\s*$|\s?${CLOSING})`,
    String.raw`(?:(?<=^|(?:[.,:;!?—→⇒]|[=-]>)\s|\b(?:${CONCLUDING})\s|${COPULA}(?:\s[ao])?\s)${LETTER}|\(([A-Z])\))(?=[.!]*\s*$)`,
  ].join('|')})`,
  'gu',
);

/** The letter that running text names as its choice: the one that opens it, or that its last line ends in or points to. */
export function letterNamed(source: string, last: string): string | undefined {
  const text = source.trim();
  const [first = ''] = text.split('\n', 1);
  const opening = answerChoice(first, last);
  if (opening && /^[\W_]*[A-Z]/.test(first) && namesOneChoice(opening)) return opening.letter;
  return lastLetterIn(text, POINTED, last);
}

/** "A" and "I" are words as well, where a small letter follows. */
const MENTIONED = /(?<![A-Za-z0-9$\\_^{=+*/-])(?:\(([A-Z])\)|([B-HJ-Z])|([AI])(?!\*{0,2} [a-z]))(?=[.,:;!*\s]|$)/g;

/** The last letter of the last line, where only a letter can be meant. */
export const letterMentioned = (text: string, last: string): string | undefined => lastLetterIn(text, MENTIONED, last);

const DENIES = new RegExp(NOT, 'u');
const CLAUSE = /^[^.,;:]*/;
const CLAUSE_END = /[^.,;:]*$/;
/** Does the clause that a text begins with deny or doubt, in another writing? */
export const deniesClause = (text: string): boolean => DENIES.test(CLAUSE.exec(text)![0]);

/** The last letter of the last line that the pattern finds, if it is not denied and none of several. */
function lastLetterIn(source: string, pattern: RegExp, last: string): string | undefined {
  const text = source.trim();
  const line = text.slice(text.lastIndexOf('\n') + 1).slice(-LINE_CHARS);
  const letterOf = (found: RegExpExecArray): string => found.slice(1).find((one) => one !== undefined) ?? '';
  const found = [...line.matchAll(pattern)].findLast((one) => letterOf(one) <= last);
  if (!found) return undefined;
  const before = line.slice(0, found.index);
  const behind = line.slice(found.index + found[0].length);
  const clause = CLAUSE_END.exec(before)![0] + CLAUSE.exec(behind)![0];
  const isOpen = isDenied(before) || DENIES.test(clause) || ONE_OF_SEVERAL.test(before) || DENIED_BEHIND.test(behind);
  return isOpen ? undefined : letterOf(found);
}

/** The place of the choice that has these words; -1 if none has. */
export function placeOfWords(words: string, choices: readonly string[]): number {
  const own = squeezed(words);
  return own === ''
    ? -1
    : choices.findIndex((text) => squeezed(text) === own || squeezed(text.split('\n', 1)[0]!) === own);
}

const squeezed = (text: string): string =>
  text
    .replace(/[\s${}~]|\\(?:text|mathrm|[,;:! ])|\*\*/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
