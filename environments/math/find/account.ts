// Accounts for the sentence that holds a value: its subject, its verb, and the words behind the value. The world is closed: a
// word without a known part in the sentence makes it no statement of that value. Linear: a few hundred characters a side.

import { isNoun, isRefusing, leadsTo, withoutHedges } from '../read/harmless-words.ts';
import {
  inEnglish,
  isAction,
  isCommon,
  isDenying,
  isDeterminer,
  isForeignNoun,
  isLead,
  isLink,
  isMeta,
  namesAnswer,
  opensZone,
  NUMBER_WORD,
  QUANTITY,
  SUPPOSED,
  UNFIT,
  WORK,
} from '../read/statement-words.ts';
import { isUnitWord } from '../read/unit-words.ts';

export type Known = (word: string) => boolean;

const REACH = 500;
/** A formula that is complete; it stands for a noun. */
const FORMULA =
  /\$\$[^$]{1,400}\$\$|\$[^$\n]{1,300}\$|\\\([^()]{0,150}(?:\([^()]{0,80}\)[^()]{0,80}){0,4}\\\)|\\\[[^\]]{1,300}\\\]/g;
const TEXT = /\\(?:text|textbf|textit|mathrm|mbox|textrm|underline)\s*\{([^{}]*)\}/g;
/** Marks that strike out what they stand at. */
export const STRUCK = /~~|<\/?(?:s|del|strike)>|[❌✖✗✘⛔🚫👎🙅❎❓❔⁉⍻🗙]/u;
/** `~~6~~`: a single pair of tildes is LaTeX's blank. */
export const STRIKES = /~~[^~]+~~|<(?:s|del|strike)>/;
const SENTENCE = /[.!?;](?=[\s"'”’)*]|$)|[。！？；]/;
const NOUN = '⟦';

const plain = (text: string): string =>
  inEnglish(
    text.includes('\\') || text.includes('<')
      ? text
          .replace(TEXT, ' $1 ')
          .replace(/\\(?:begin|end)\s*\{[^{}]*\}|<<[^<>]*>>|<\/?(?!s>|del>|strike>)[a-z]+>/g, ' ')
          .replace(/\\(?:n(?:e|eq|ot)|geq?|leq?|geqslant|leqslant)(?![A-Za-z])/g, ' ≠ ')
          .replace(/\\approx(?![A-Za-z])/g, ' approximately ')
          .replace(/\\[A-Za-z]+/g, ' ')
      : text,
  );
const wordsOf = (text: string): string[] => text.match(/⟦|[=:]|\p{L}+(?:[’']\p{L}+)*|[≠≤≥<>]|\d[\d.,]*/gu) ?? [];

/** Is the value at `start` to `end` what its sentence states? */
export function isAccounted(text: string, start: number, end: number, known: Known, marked: boolean): boolean {
  const value = text.slice(start, end);
  const { left, inside } = leftOf(text, start);
  if (STRUCK.test(left) || STRIKES.test(value)) return false;
  const decimal = /\d[.,]\d/.test(value);
  if (
    !leads(
      decimal ? withoutHedges(left) : left,
      known,
      marked,
      /^(?:\\f?boxed\s*\{)?[-−$\s]*\d|^\(\d+\)?$/.test(value),
      value,
    )
  )
    return false;
  return follows(text, end, known, inside, /\p{L}{2}|⟦/u.test(left));
}

/** Do the words before `start` lead to what follows? */
export const isLedTo = (text: string, start: number, known: Known, strict = false): boolean => {
  const { left } = leftOf(text, start);
  if (STRUCK.test(left)) return false;
  return strict ? wordsOf(left).every((word) => isStrict(word.toLowerCase(), known)) : leads(left, known, true, false);
};

const FORMULA_TO = /(?:\$\$?|\\\(|\\\[)(?!.*(?:\$|\\\)))([^$]*)$/s;

/** The sentence up to the value, also over the line end that a display or a colon makes; is the value in a formula? */
function leftOf(text: string, start: number): { readonly left: string; readonly inside: boolean } {
  const reach = text
    .slice(Math.max(0, start - REACH), start)
    .replace(FORMULA, (m) => (/\\n(?:e|eq|ot)(?![A-Za-z])|≠/.test(m) ? ` ${NOUN}≠ ` : ` ${NOUN} `));
  const open = FORMULA_TO.exec(reach);
  const before = open ? reach.slice(0, open.index) : reach;
  const lines = before.split('\n');
  let kept = lines.pop() ?? '';
  for (let line = lines.pop(); line !== undefined; line = lines.pop()) {
    const previous = line.trimEnd();
    if (previous === '' && kept.trim() === '') continue;
    const wrapped = /^\s*\p{Ll}/u.test(kept) && previous !== '' && !/[.!?;:。]\W*$/.test(previous);
    if (!wrapped && (kept.trim() !== '' || !GOES_ON.test(previous))) break;
    kept = `${previous} ${kept}`;
  }
  const sentence = kept.split(SENTENCE).at(-1) ?? '';
  return { left: plain(`${sentence} ${inFormula(open?.[1] ?? '')}`), inside: open !== null };
}

/** A line after which a display goes on with the sentence. */
const GOES_ON = /[:：,，][*\s]*$|(?:^|\s)(?:is|are|be|equals|get|that|to|the|of|=|not)\s*$/i;

const inFormula = (math: string): string => {
  const said = [...math.matchAll(TEXT)].map((m) => m[1]).join(' ');
  const rest = math.replace(TEXT, ' ').replace(/\\(?:begin|end)\{[^{}]*\}|\\(?!approx|n)[A-Za-z]+|[&{}()]/g, ' ');
  return `${said} ${/[\p{L}\d]/u.test(rest) ? NOUN : ''} ${/[=:]\s*$/.test(rest) ? '=' : /(?:\\approx|≈)\s*$/.test(rest) ? 'approximately' : ''}`;
};

function rightOf(text: string, end: number, inside: boolean): string {
  const reach = text.slice(end, end + REACH);
  // The rest of the formula around the value is read with the value.
  const rest = inside ? (/^[^$]{0,200}?(?:\$\$?|\\\)|\\\])/.exec(reach)?.[0] ?? '') : '';
  const said = [...rest.matchAll(TEXT)].map((m) => m[1]).join(' ');
  const behind = `${said} ${reach.slice(rest.length).replace(FORMULA, ` ${NOUN} `)}`.replace(
    /\\(?:end|begin)\{[^{}]*\}/g,
    ' ',
  );
  return plain(behind.slice(0, sentenceEnd(behind)));
}

const RIGHT_END = new RegExp(`${SENTENCE.source}|\\n|^[\\s$*)\\]}]*\\s(?=\\p{Lu}\\p{Ll}|I[\\s'’])`, 'u');
/** The end of the sentence in which a value stands, as an offset in what follows the value. */
export function sentenceEnd(behind: string): number {
  const closed = /^\s*(?:\\end\{\w+\*?\}\s*)*(?:\$\$?|\\\)|\\\])/.exec(behind)?.[0].length ?? 0;
  const end = RIGHT_END.exec(behind.slice(closed));
  return end === null ? behind.length : closed + end.index + end[0].length;
}

const CLAUSES =
  /,\s+(?!that\b|which\b|whether\b)|:\s+(?=(?:so |thus )?(?:the|our)\b)|—|\s-\s|\b(?:so|then|thus|therefore|hence|implying)\b(?: that)?|(?<!\bnot? )\b(?:shows?|means?|implies|implying|concludes?|deduce|see|find|follows|verified|know) that\b|⇒|→|(?:\d|⟦)\s+(?=\p{Lu}\p{Ll}+(?:\s\p{L}+)?\s*:)/u;
const LIST =
  /(?:(?:⟦|(?<![\d./])[-−]?\d[\d./]{0,30})(?:\s?,\s{0,6}(?:(?:and|or)\s{1,6})?|\s{1,3}(?:and|or)\s{1,6})){1,20}$/;

/** Do the words before a value lead to it? */
function leads(left: string, known: Known, marked: boolean, number: boolean, value = ''): boolean {
  const said = left
    .replace(/[*_"“”`]/g, ' ')
    .replace(/^(?:\s*(?:no\s*[,!—]|(?:oops|wait|yes|ok|okay|actually|correction|hmm+)\s*[,:!—]))+/i, ' ')
    .replace(/(?:(?<=[\d⟦].{0,20})\bno|\b(?:oops|wait|correction))\s*[:!—]\s*$/i, ' ')
    .replace(/^\s*(?:step\s*\d+|\d+[.)]|\(\w\)|[-•#>]+)\s*[:.)]?\s*(?=\p{Lu}|⟦)/iu, ' ')
    .replace(/\bnot\s+(?:just\s+|only\s+)?(?:⟦|[\d.,]+),?\s+but\b/i, ' ')
    .replace(/\bnot (?:hard|difficult) to\b|\bno other (?:option|choice|possibility|value|solution|answer)\b/i, ' ')
    .replace(/\b(?:impossible|cannot|not possible|can't)(?: to)? (?:do|get) (?:any )?better than\b/i, ' is ')
    .replace(LIST, ' ');
  const clauses = said.split(CLAUSES);
  const clause = clauses.at(-1) ?? '';
  if (/\bif\b/i.test(said) && /\b(?:would|were)\b/i.test(said)) return false;
  const supposed = SUPPOSED.exec(said)
    ?.slice(1)
    .find((word) => word !== undefined)
    ?.toLowerCase();
  if (supposed !== undefined && !known(supposed)) return false;
  if (clauses.slice(0, -1).some((earlier) => /\b(?:not|never|cannot|false|wrong|suppose|assume)\s*$/i.test(earlier)))
    return false;
  const tokens = wordsOf(clause);
  const lower = tokens.map((word) => word.toLowerCase().replace('’', "'"));
  if (lower.length === 0) return true;
  if (lower.includes('≠')) return false;
  if (lower.includes('either') && !/\bor\b/.test(`${left} ${value}`)) return false;
  // The square of the answer is another value.
  if (lower.some((word) => word.endsWith("'s") && namesAnswer(word.slice(0, -2)))) return false;
  if (lower.some(namesAnswer))
    return (
      !/^(?:has|have|had)$/.test(lower.at(-1) ?? '') &&
      lower.every((word) => isStrict(word, known)) &&
      !(number && isMeta(lower.at(-1) ?? ''))
    );
  const link = lower.findLastIndex(isLink);
  if (!linked(lower.slice(link + 1), lower[link], tokens.slice(link + 1), known, number)) return false;
  let [zone, determined] = [false, false];
  for (const [k, word] of lower.slice(0, Math.max(link, 0)).entries()) {
    if (/^[<>≤≥]$/.test(word)) return false;
    if (isMeta(word) && (!marked || !zone)) return false;
    if (zone) continue;
    if (isDenying(word)) return false;
    const name =
      /^\p{Lu}/u.test(tokens[k] ?? '') &&
      (k > 0 || (isCommon(lower[1] ?? ':', known) && !/^[=:\d]/.test(lower[1] ?? '')));
    if (opensZone(word) && k > 0) zone = determined;
    else if (isDeterminer(word) || /'s$|s'$/.test(word)) determined = true;
    else if (word !== NOUN && word !== '=' && word !== ':' && !isLink(word) && !isCommon(word, known)) {
      if (!name && (!determined || word.endsWith('ly'))) return false;
    } else determined ||= (k === 0 && word.length > 1) || /^(?:number|value|sum|total)$/.test(word);
  }
  return true;
}

const isStrict = (word: string, known: Known): boolean =>
  /^(?:[⟦:=]|\d+|[a-zα-ω])$/u.test(word) ||
  isLead(word) ||
  (known(word) && !isDenying(word) && !isRefusing(word) && !isMeta(word));

/** The words between the verb and the value. */
function linked(
  words: readonly string[],
  link: string | undefined,
  written: readonly string[],
  known: Known,
  number: boolean,
): boolean {
  if (words.some((word) => isDenying(word) || isRefusing(word))) return false;
  if (isMeta(words.at(-1) ?? '') || (number && /^(?:equation|line|option|choice)$/.test(words.at(-1) ?? '')))
    return false;
  if (words.some((word) => /[^\x00-\x7F]/.test(word) && word !== NOUN && !isForeignNoun(word) && !known(word)))
    return false;
  if (leadsTo(words.join(' '), true)) return true;
  const action = link !== undefined && isAction(link);
  return words.every(
    (word, k) =>
      /^\d/.test(word) ||
      word === NOUN ||
      /^(?:now|then|currently|still|also)$/.test(word) ||
      leadsTo(word, true) ||
      (action &&
        (/^(?:him|her|them|me|us|you|at|in|by|to|out|up|for|with|on|per|back)$/.test(word) ||
          isNoun(word) ||
          known(word) ||
          /^\p{Lu}/u.test(written[k] ?? ''))) ||
      (word === 'of' && k > 0 && QUANTITY.test(words[k - 1] ?? '')) ||
      QUANTITY.test(word) ||
      (!number && isCommon(word, known)),
  );
}

const EXPLAINED =
  /(?:^|[\s,(—-])(?:because|since|as|so|hence|thus|therefore|where|using|by|i\.?e\.?|that is|namely|or else|due to|and (?:we|this|that|it|thus|hence|so)|and the (?!(?:other|answer|negative|solution|value|opposite|same|rest|result|next|correct|true|right|real)\b)\p{L}+ (?:is|are)|which (?:means|gives|implies|matches|equals|simplifies|completes|is (?:less|smaller|greater|larger) than (?:(?=[\d⟦])|one\b|zero\b))|matching|confirming|agreeing with|consistent with|not(?=\s+(?:⟦|[\d$(-]|\p{L}+ing\b))|(?:rather than|instead of)(?=\s+(?:⟦|[\d$(-]|\p{L}+ing\b))|(?:attained|achieved|reached|occurring)?\s*(?:when|at(?! (?:most|least)\b)|if and only if|iff))(?![\p{L}]).*$/su;
const OTHERS = /\(\s*(?:we )?(?:reject|discard|exclud|ignor|not|choices?)[^()]*(?:⟦|\d)[^()]*\)/i;

/** Do the words behind a value leave it as it is? */
export function follows(text: string, end: number, known: Known, inside = false, object = false): boolean {
  const right = rightOf(text, end, inside);
  if (STRUCK.test(right)) return false;
  if (/[?？]\W*$|\bat (?:most|least)\b/i.test(right)) return false;
  const said = right.replace(/[*_"“”`]/g, ' ').replace(OTHERS, ' ');
  const why = EXPLAINED.exec(said)?.[0] ?? '';
  if (
    /\b(?:wrong|incorrect|mistake\w*|refuted|error|rejected|guess\w*|not (?:right|correct|the answer)|unless|fails|extraneous|only if|unfinished|partial|incomplete|intermediate|placeholder)\b/i.test(
      why,
    ) ||
    WORK.test(why) ||
    UNFIT.test(why)
  )
    return false;
  const rest = said.slice(0, said.length - why.length);
  // What "or" adds is read with the value.
  if (
    /^[\s,)(]*(?:or(?![^)]*\))|≈|approximately|about|and(?=\s+(?:⟦|[\d(-])))(?:\s+(?:about|approximately|roughly|equivalently|simply))?(?!\p{L})/iu.test(
      rest,
    )
  )
    return true;
  const tokens = wordsOf(rest);
  let [zone, counted, about] = [false, false, object];
  if (
    /^(?:factorial|minus|plus|times|over|to|divided|multiplied|squared|cubed|modulo|negative)$/i.test(tokens[0] ?? '')
  )
    return false;
  for (const [k, token] of tokens.entries()) {
    const word = token.toLowerCase().replace('’', "'");
    if (/^[=:]$/.test(word)) continue;
    if (isMeta(word) || (namesAnswer(word) && word !== 'final' && !LEADING_IN.test(rest))) return false;
    if (/^[≠≤≥<>]$/.test(word)) return false;
    if (counted && /^(?:not|didn't|don't|never)$/.test(word)) continue;
    if (isDenying(word) && token !== 'May') return false;
    if (/^(?:less|fewer)$/.test(word) && k > 0 && k === tokens.length - 1) continue;
    if (isRefusing(word) && !/^(?:more|than|below|above|within|over|under|square|plus|minus|far|half|may)$/.test(word))
      return false;
    if (word === NOUN || /^\d/.test(word)) {
      if (zone) continue;
      return false;
    }
    if (NUMBER_WORD.test(word)) {
      if (isDeterminer(tokens[k - 1]?.toLowerCase() ?? '')) continue;
      return false;
    }
    // "The 6 in the statement is …" says something of the 6.
    if (zone && /^(?:is|are|was|were)$/.test(word) && !/^(?:that|which|who|there)$/.test(tokens[k - 1] ?? ''))
      [zone, about] = [false, false];
    if ((opensZone(word) && !/^(?:which|that)$/.test(word)) || word === 'than') zone ||= about;
    const noun = k <= 1 && (isNoun(word) || isUnitWord(word));
    counted ||= noun;
    if (noun || zone || isCommon(word, known)) continue;
    const name = about && k > 0 && /^\p{Lu}/u.test(token);
    const pair = /[^s]s$/.test(tokens[k + 1]?.toLowerCase() ?? '') && !/(?:ed|ly|s)$/.test(word);
    if (object && k === 0 && pair) continue;
    const unknown =
      object &&
      k <= 1 &&
      /[^s]s$/.test(word) &&
      !/(?:ous|less)$/.test(word) &&
      !isDeterminer(tokens[k + 1]?.toLowerCase() ?? '');
    if (!name && !unknown) return false;
    counted ||= unknown;
  }
  return true;
}
/** "is the answer", "as the final answer": of the value itself. */
const LEADING_IN =
  /^[\s,.()]*(?:(?:which )?(?:is|as|being|must be)\s+)?(?:the|our|my)?\s*(?:(?:final|correct|right|required|desired|only|unique)\s+)*(?:answers?|solutions?|result|choice|option)(?: (?:to|of|for) (?:the|this|our) (?:(?:given|original) )?(?:equation|problem|question|system|inequality|puzzle))?[\s.!)]*$/i;
