// A box inside a larger formula is a part of it: `2^{\boxed{6}}` answers 2^6, `5, \boxed{6}` a list. Says what the formula
// around a box makes of its content. Only what assigns (`x =`, `\Rightarrow`), dresses or ends a statement may stand
// beside a box that counts alone. Reads a bounded stretch of text around the box.

import type { About } from '../compare/subject.ts';
import { mathSegments } from './segments.ts';

const REACH = 1_500;

export interface Placed {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

interface Around {
  readonly left: string;
  readonly right: string;
}

/** The equation of which a box is the right side, or which it holds. */
export function equationAt(text: string, { text: content, start, end }: Placed): About | undefined {
  const { left, right } = formulaAround(text, start, end);
  const [before] = dressless(stated(left), ended(right));
  const assigns = /[^=]=\s*$/.test(before);
  if (!assigns && !content.includes('=')) return undefined;
  const item = assigns ? (before.split(/,|;/).at(-1) ?? '') : '';
  const named = namesBefore(text, start - left.length);
  return { equation: item + content, named, ...(assigns && { boxed: true }) };
}

/** Words that lead to a formula and do not say what it is. */
const LEADS_TO =
  /(?:^|[.,:;!?\n⟦$)\]]|\b(?:so|thus|hence|therefore|then|and|or|but|that|now|finally|since|because|where|when|if|with|as|from|by|gives?|giving|yields?|get|gets|have|obtain|find|see|implies|imply|means|becomes|to|i\.e\.|(?:we|it|this|that|which) (?:is|has|have|was)))\s*$/i;
/** Do words right before a formula say what it is: "Mary has", "Bob's share is thus", "the total"? */
export const namesBefore = (text: string, start: number): boolean =>
  !LEADS_TO.test(
    text
      .slice(Math.max(0, start - 60), start)
      .replace(/(?:\$\$?|\\[([])\s*$/, '')
      .replace(/\b(is|are|has|was) (?:thus|then|therefore|hence|now|just|exactly|simply)\s*$/, '$1'),
  );

/** `\equiv \boxed{3} \pmod{7}`: the modulus behind a box that is a residue, as its length. */
export function modulusBehind(text: string, { start, end }: Pick<Placed, 'start' | 'end'>): number {
  if (!/(?:\\equiv|≡|\bcongruent to)[^\n]*$/.test(text.slice(Math.max(0, start - 200), start))) return 0;
  return MODULUS.exec(text.slice(end, end + 80))?.[0].length ?? 0;
}
const MODULUS =
  /^[\s$}\\,;:!~]*(?:q?quad\s*\\)?(?:p?mod(?:ulo)?\s*(?:\{[^{}]*\}|\d+|[a-z](?![a-z]))|\((?:\\?(?:text|mathrm)\{)?\\?mod\s*\}?\s*[\w{}]+\))/;

/** The answer in a box: its content alone (undefined), or the text that replaces it ('' for none). */
export function aroundBox(text: string, placed: Placed): string | undefined {
  const formula = inFormula(text, placed);
  const earlier = joinedBefore(text, placed.start);
  return earlier === undefined || formula === '' ? formula : `${earlier} , ${formula ?? placed.text}`;
}

/** `$7$ or $\boxed{6}$`, `7 or \boxed{6}`: the value that "or", "and" or a comma joins to the formula of the box. */
function joinedBefore(text: string, start: number): string | undefined {
  const line =
    text
      .slice(Math.max(0, start - 300), start)
      .split('\n')
      .at(-1) ?? '';
  const own = line.replace(/(?:\$\$?|\\[([])?\s*(?:([A-Za-z](?:_\{?\w+\}?)?)\s*=\s*)?$/, '');
  const name = /([A-Za-z](?:_\{?\w+\}?)?)\s*=\s*$/.exec(line)?.[1];
  const joined = /(?:,?\s*\b(or|and)|(,))\s*$/.exec(own);
  if (!joined) return undefined;
  const earlier = own.slice(0, joined.index);
  const formula = /(?:\$([^$]{1,100})\$|\\\(([^()]{1,100})\\\))$/.exec(earlier);
  const value = formula?.[1] ?? formula?.[2] ?? (joined[2] ? undefined : /(?:^|\s)(-?\d[\d.,/]*)$/.exec(earlier)?.[1]);
  if (value === undefined || !/\d|\\pi|\\infty/.test(value)) return undefined;
  // `5x = 180$ or $x = \boxed{36}` says the same equation once more, "a third of 360, or \boxed{120}" the same value.
  const side = value.includes('=') ? value.slice(0, value.indexOf('=')).trim() : undefined;
  if (joined[1] === 'or' && side !== undefined && !/^[A-Za-z](?:_\{?\w+\}?)?$/.test(side)) return undefined;
  if (joined[0].startsWith(',') && /\bof\s*\$?$/.test(earlier.slice(0, earlier.lastIndexOf(value)))) return undefined;
  // `a = 1 and b = \boxed{2}` are two things; `n = 3, \boxed{6}` is a step.
  const of = /^\s*([A-Za-z](?:_\{?\w+\}?)?)\s*=[^=]*$/.exec(value)?.[1];
  if (joined[1] !== 'or' && (of === undefined ? name !== undefined || /[=<>]|\\[lg]e/.test(value) : of !== name))
    return undefined;
  return joined[1] !== 'or' || of === name || of === undefined ? value : undefined;
}

function inFormula(text: string, { text: content, start, end }: Placed): string | undefined {
  const { left, right } = formulaAround(text, start, end);
  const [before, after] = dressless(stated(left), ended(right));
  // Digits that touch the box: nobody can tell what number that is.
  if (/\d$/.test(before) || /^(?:\d|\.\d|,\d{3})/.test(after)) return '';
  if (/\\f?box/.test(before + after)) return undefined;
  const lead = assigned(before);
  const followed = harmlessBehind(after);
  if (lead !== undefined && followed) return lead === '' ? undefined : lead + content;
  if (lead === '' && /^\s*(?:\\;|\\,|\s)*\^\s*\{?\s*\\(?:circ|degree)\s*\}?\s*$/.test(after))
    return `${content}^\\circ`;
  if (
    /\\equiv\s*$/.test(before) &&
    !/(?<![\\A-Za-z])[A-Za-z](?![A-Za-z])/.test(before) &&
    /^\s*\\p?mod|^\s*\(\\?mod/.test(after)
  )
    return undefined;
  // `2 + \boxed{5} = 7` fills a gap: numbers alone stand around it.
  if (/\S/.test(before) && /^[^=]*=/.test(after) && !/[A-Za-z]/.test((before + after).replace(/\\[A-Za-z]+/g, '')))
    return undefined;
  return `${before}${atom(content, before, after)}${after}`;
}

/** Brackets keep a content of several parts together. */
function atom(content: string, before: string, after: string): string {
  if (/^\s*[-+]?(?:[\d.]+|[A-Za-z])\s*$/.test(content)) {
    if (/\\[A-Za-z]+$/.test(before)) return ` ${content}`;
    return /^\s*[-+]/.test(content) ? `(${content})` : content;
  }
  const item = /(?:^|[,;{([]|=|\\\{)\s*$/.test(before) && /^\s*(?:$|[,;})\]=]|\\\}|\\right)/.test(after);
  return item ? content : `(${content})`;
}

/** The formula that holds the box; without dollars, what stands beside it on its line and is no prose. */
function formulaAround(text: string, start: number, end: number): Around {
  const from = Math.max(text.lastIndexOf('\n\n', start) + 1, start - REACH, 0);
  const piece = text.slice(from, end + REACH);
  const [at, to] = [start - from, end - from];
  const segment = mathSegments(piece).find((s) => s.start < at && s.end > to - 1 && s.start + 1 <= at);
  if (segment) {
    const open = /^(?:\$\$?|\\[([]|\\begin\{[a-z]+\*?\})/.exec(piece.slice(segment.start))?.[0].length ?? 1;
    const close = /(?:\$\$?|\\[)\]]|\\end\{[a-z]+\*?\})$/.exec(piece.slice(0, segment.end))?.[0].length ?? 1;
    const beside = /(?:^|[^-\s])[-]$|^[-]$|[\d+*/^]$/.exec(piece.slice(Math.max(0, segment.start - 2), segment.start));
    const left = piece.slice(segment.start + open, at);
    return {
      left: (beside ? beside[0].slice(-1) : '') + left,
      right:
        piece.slice(to, Math.max(to, segment.end - close)) +
        (/^[\d^]|^!(?=\s*[-+*/=^!)])|^\.\d|^,\d{3}/.exec(piece.slice(segment.end))?.[0] ?? ''),
    };
  }
  return {
    left: proselessEnd(piece.slice(Math.max(0, at - 200), at)),
    right: proselessStart(piece.slice(to, to + 200)),
  };
}

function proselessEnd(before: string): string {
  const run = /(?:\\[A-Za-z]+|(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])|[^A-Za-z\n\\$])*$/.exec(before)?.[0] ?? '';
  const last = run.split(/[.:;!?)]\s+|,\s+(?=\D*$)|>\s*/).at(-1) ?? '';
  const math = /\S$/.test(last) || /(?:[-+*/^=,<>|([{]|\\[A-Za-z]+)\s*$/.test(last);
  return math && !/^[\s*_#>"“'`—–-]*\s$|^[\s*_"“'`]+$|^\s*[—–-]\s*$/.test(last)
    ? last.replace(/^[*_"“\s]+/, '')
    : /^[-]$/.test(last)
      ? last
      : '';
}

function proselessStart(after: string): string {
  if (/^[A-Za-z]{2,}/.test(after)) return after.slice(0, 20);
  const run =
    /^(?:\\(?!text|mathrm|mbox|\[|\()[A-Za-z,;! ]+|(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])|[^A-Za-z\n\\$])*/.exec(
      after,
    )?.[0] ?? '';
  if (/^\.\d|^,\d{3}/.test(run)) return run;
  const first = run.split(/[.:;!?]+(?=\s|$|[*_"”<])|,\s+(?![-\d(\\])/)[0] ?? '';
  const math = /^[)}\]^!_A-Za-z\d\\]|^\s*(?:[-+*/=<>^|,:×·±÷]\s*[\d\\A-Za-z(]|\\[a-z]+)/.test(first);
  return math ? first.replace(/[*_"”\s]+$/, '') : '';
}

/** Of what stands before the box: the part behind the last step. */
function stated(left: string): string {
  const steps = left
    .replace(/\\begin\{(?:align|aligned|gather|gathered|equation|split|eqnarray)\*?\}/g, '')
    .split(
      /\\\\|\\(?:Rightarrow|implies|therefore|Longrightarrow|iff|Leftrightarrow|rightarrow|to|longrightarrow|quad|qquad)(?![A-Za-z])|⇒|→|∴|\\(?:text|mathrm|textbf|mbox)\s*\{(?![^{}]*\b(?:or|and)\b)[^{}]*[A-Za-z:]{2,}[^{}]*\}/,
    );
  const last = (steps.at(-1) ?? '').replaceAll('&', ' ');
  // A comma before the step ends the one before it; without a step, it joins.
  return last
    .replace(/\\[,;:! ]/g, ' ')
    .replace(/\\(?:text|mbox)\s*\{\s*\}/g, ' ')
    .replace(/^[\s.:;,]+/, '');
}

const ended = (right: string): string =>
  right
    .replace(/\\end\{[a-z]+\*?\}/g, ' ')
    .split(/\\\\(?![A-Za-z])/)[0]!
    .replace(
      /\\(?:tag|label)\*?\{[^{}]*\}|\\(?:blacksquare|square|Box|qed|checkmark|quad|qquad|hfill)(?![A-Za-z])|\\[,;:! ]|&/g,
      ' ',
    );

const OPENS =
  /(?:(?:\\(?:displaystyle|textstyle|large|Large|LARGE|huge|Huge|bf)\s*)|(?:\\(?:textbf|mathbf|boldsymbol|bm|underline|text|mathrm|textrm|mbox|large|Large|LARGE|huge|Huge|displaystyle|color\{\w+\}|textcolor\{\w+\})\s*)?\{\s*(?:\\(?:large|Large|LARGE|huge|Huge|bf|displaystyle)\s*)?|\\left\s*\(|(?<![A-Za-z\d)}^_\\]\s*)\()\s*$/;
const CLOSES = /^\s*(?:\\right\s*\)|[)}])/;

/** Without fonts, braces and brackets that hold nothing but the box. */
function dressless(left: string, right: string): [string, string] {
  let [before, after] = [left, right];
  for (let n = 0; n < 6; n++) {
    const open = OPENS.exec(before);
    if (!open) break;
    const bare = before.slice(0, open.index);
    const bracket = /[({]\s*(?:\\[A-Za-z]+\s*)?$/.test(open[0]);
    if (/[\^_}\]]\s*$|\\[A-Za-z]+\s*$/.test(bare) && /\{/.test(open[0]) && !open[0].startsWith('\\')) break;
    if (bracket && !CLOSES.test(after)) break;
    before = bare;
    if (bracket) after = after.replace(CLOSES, '');
  }
  return [before, after];
}

const NAMED = /^\s*([A-Za-z](?:_\{?\w+\}?)?)\s*=/;

/** '' if what stands before the box only assigns; items of a list that go before it; undefined if it does more. */
function assigned(before: string): string | undefined {
  if (/^[\s:.~*]*$/.test(before)) return '';
  if (
    !/(?:=|\\(?:approx|doteq|in|coloneqq)|:|≈)\s*$/.test(before) ||
    /\\(?:not|ne|neq)\s*=?\s*$|(?:(?<![\d)}\]])!|[<>])=\s*$/.test(before)
  )
    return undefined;
  if (/\d\s*:\s*$/.test(before)) return undefined;
  // `x = 7, x = \boxed{6}`: one name and two values.
  const items = before.split(/,|;|\\(?:text|mbox)\s*\{\s*,?\s*(?:and|or)\s*\}|\\lor|\\vee/);
  const name = NAMED.exec(items.at(-1) ?? '')?.[1];
  const same = items.slice(0, -1).some((item) => name !== undefined && NAMED.exec(item)?.[1] === name);
  // The braces and brackets that were opened before the box belong to more than its content.
  const open = before
    .replace(/\\[{}]/g, '')
    .replace(/[^{}]/g, '')
    .replace(/(?:\{\})+/g, '');
  if (/^\{+$/.test(open.replace(/\{\}/g, '')) || same) return same ? before : undefined;
  return '';
}

/** Punctuation, a unit or words: read by what reads the words behind a box. */
const harmlessBehind = (after: string): boolean =>
  /^[\s.,;:!~*)}\]]*(?:\\?%|\\(?:text|mathrm|mbox|textbf|textrm)\s*\{.*|\\(?:Rightarrow|implies)(?![A-Za-z]).*|\(\s*\\?(?:text|mathrm)\{.*)?\s*$/s.test(
    after,
  ) && !after.trimStart().startsWith('!');
