// The text behind an answer. A sentence that speaks of other things is free, a sentence that speaks of the answer has to be of a
// closed form (explanation.ts), and another statement of an answer has to agree with the first. Linear.

import { inEnglish, isLead, WORK } from '../read/statement-words.ts';
import { REMARK, RETRACTS, speaksAgainst } from './explanation.ts';
import { sentenceEnd, sentencesOf, wordsOf } from './sentence.ts';
import { type Known, NOTHING } from './known.ts';
import { stopped } from './obstacle.ts';

/** Opens a sentence that takes back what was said. */
export const OPENS =
  /^(?:(?:hm+|um+|uh|ah|oh)\b[,.!]*\s*)?(?:wait|oops|ops|whoops|actually|scratch|correct(?:ion|ing)|no(?:pe)?(?=[,.!]|\s*$|\s+wait)|hm+|sorry|apolog|my (?:bad|mistake)|mistake|edit|erratum|errata|update|hold on|never ?mind|just kidding|kidding|jk\b|on (?:second thoughts?|reflection|closer)|not sure|not(?:[!.]|$)|not (?:quite|really|true|right)|unfortunately|alas\b|regrettabl|impossible\b|lol\b|ha(?:ha)*[,!. ]|april fool|psych\b|counter-?example|please (?:disregard|ignore)|strike|disregard|ignore|retract|replace|or (?:maybe|perhaps|rather|is it|possibly|else)|maybe|perhaps|wrong|false|incorrect|instead,|to correct|revis|reconsider|upon (?:re|further|closer)|aber|warte|moment|halt|falsch|nein|attend|mais|faux|non\b[,.!]|pero|espera|falso|perd[oó]n|но\b|нет|постой|等|不对|不\s*[，,]|应(?:该|当)?(?:是|为)|但|抱歉|错|其实|更正|哦|糟|すみません|待って|いや|訂正)/iu;
/** A turn to something else: it counts where a value follows that is not excluded there. */
const TURNS =
  /^(?:but|however|yet|or|alternatively|otherwise|though|although|still|in fact|on the other hand|rather|instead)\b/i;
const DERIVES =
  /^(?:alternatively|in fact|on the other hand)\b(?!.*\b(?:answers?|solutions?|results?|values?|choices?)\b)/is;
const LONG = 8;
const EXCLUDES =
  /\b(?:not|cannot|never|no|exclud\w*|reject\w*|impossible|extraneous|too|fails?|invalid|only)\b|n[’']t\b/i;
const VALUE = String.raw`(?:\$[^$\n]{1,200}\$|\\\([^\n]{1,200}?\\\)|[-−+]?\d{0,9}\\(?:[dt]?frac|sqrt|pi)[^\s.,;]*|[-−+]?[$€£¥₹]?\d[\d.,/]*(?:\s?%)?|\(?[A-J]\)?(?![A-Za-z])|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b)`;
const ENDS_IN = new RegExp(String.raw`${VALUE}[\s.*$)]*$`, 'i');
const HAS_VALUE = new RegExp(VALUE, 'u');
/** A check: it shows in what it states. */
const CHECKS =
  /\b(?:let(?:[’']s| me| us)|we can(?: also)?|to|i(?:[’']ll| will)?|for) (?:just |quickly |also )?(?:double[- ]?|re-?)?(?:check|verif|confirm|ver\b|test)/i;
/** A demand on the answer, after "but". */
const DEMANDS =
  /\b(?:answer|value|result|number|solution|it) (?:must|should|has to|had to|needs? to|cannot|can[’']t)\b/i;

/** First person: only remarks are expected there. */
const OWN = /(?<![\p{L}\d$\\_^=(])(?:I|I[’']\w+|my|me|myself|sorry)(?![\p{L}\d_^=)])/u;
const COUNTERFACTUAL =
  /^(?:note|if|were|had)\b.*\bwould\b|^(?:with|without)\b(?!.*\b(?:correct|right|proper|actual|true)\b).*\bwould be\b|\bif\b.*\bwould\b|\bwould\b.*\bif\b/i;

const ENDS_WITH = (value: string): RegExp =>
  new RegExp(String.raw`(?<![\w.,])${value.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')}[\s$)}.]*$`);

const MOST_SENTENCES = 1_000;

export interface After {
  readonly withdrawn: boolean;
  /** Values that the text names as an answer once more. */
  readonly also: readonly string[];
}

const STATED = new RegExp(
  String.raw`\b(?:answers?|(?:correct|right|true|real|actual|other|final|proper) (?:answer|value|result|number|solution|option|choice|one)|(?<=\b(?:so|the|thus|therefore|hence) )result)\b(?: (?:to|for|of) (?:the|this|your)[a-z ]{1,40})?\**\s*(?:is|are|was|:|=|should be|should have been|must be|would be|becomes|equals|[’']s)[\s:*]*(?:actually |really |in fact |then |simply |just |now |indeed |therefore )*(${VALUE}[^.!?\n]{0,60}|yes\b|no\b)`,
  'giu',
);
const ITS = new RegExp(
  String.raw`^(?:so|thus|then|now|therefore|hence|and)?,?\s*(?:it|this|that|the (?:total|result|value)|(?:counting|adding|including|removing|excluding|subtracting) [a-z ]{1,40}|[a-z])\s*(?:[’']s|is|should be|must be|equals|gives|yields|makes|=)\s*(?:actually |really |in fact |then |simply |just |now |indeed )*(${VALUE})\**$`,
  'iu',
);
const ALONE = new RegExp(String.raw`^[*\s]*(?:or|and|also|,)*\s*(${VALUE})[*\s]*$`, 'iu');
const WORKS = new RegExp(
  String.raw`(${VALUE})\s+(?:is|are|was|also|works?|would|could|might)\b[^.!?]{0,30}\b(?:the (?:\w+ )?answer|also (?:works?|possible|correct|valid|a solution)|works? (?:too|as well)|possible too|correct|right)\b`,
  'iu',
);

const LED_TO = String.raw`(?:(?:so|but|and|yet|however|thus|hence|therefore|then|the (?:value|number|answer|result))\b|[$,\s]|\\\(|[a-z]\s*=)`;

const withdrawnBy = (said: string, also: readonly string[]): After => ({
  withdrawn: !stopped('a sentence behind it', said),
  also,
});

/** `cut`: the last sentence is not complete, and is held to nothing but its opening. */
export function afterwards(text: string, end: number, value: string, known: Known = NOTHING, cut = false): After {
  const also: string[] = [];
  // Behind the value its own sentence goes on, which is accounted for elsewhere.
  const rest = text.slice(end);
  const sentence = sentenceEnd(rest);
  const later = inEnglish(rest.slice(sentence)).replace(/\*\*|__|[“”"]/g, '');
  if (later.trim() === '' && !/####|<answer>/.test(rest)) return { withdrawn: false, also };
  const before = text.slice(0, end);
  const own = value.trim();
  // Of the value itself "so 6 is wrong" says what "it is wrong" says.
  const mention =
    own === '' || own.length > 60
      ? undefined
      : new RegExp(String.raw`^(${LED_TO}*)(?<![\w.,\\])${own.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')}(?!\w)\$?`, 'i');
  const unfinished = cut ? [...sentencesOf(later)].at(-1) : undefined;
  let count = 0;
  for (const said of sentencesOf(later)) {
    // A text that goes on for so long is about something else.
    if (++count > MOST_SENTENCES) return withdrawnBy(said, also);
    const it = mention === undefined ? said : said.replace(mention, '$1 it ').replace(/^[$]/, '');
    const checks = CHECKS.test(said) && !/≠|\\ne(?:q|\b)/.test(said);
    if (OPENS.test(said) && !checks) return withdrawnBy(said, also);
    if (WORK.test(said) && !checks) return withdrawnBy(said, also);
    if (TURNS.test(said) && DEMANDS.test(it)) return withdrawnBy(said, also);
    // "Alternatively, 4 + 25 = 29" comes to the same value; another way is told at length.
    const same = mention !== undefined && ENDS_WITH(own).test(said);
    const long = !RETRACTS.test(said) && wordsOf(said).length > LONG && !ENDS_IN.test(said);
    if (DERIVES.test(said) && (same || long)) continue;
    if (TURNS.test(said) && HAS_VALUE.test(it.replace(/^\w+/, '')) && !EXCLUDES.test(said))
      return withdrawnBy(said, also);
    if (!COUNTERFACTUAL.test(said)) {
      const others = statedIn(said);
      also.push(...others);
      if (others.length > 0) continue;
    }
    if (checks || said === unfinished) continue;
    if (OWN.test(said.replace(/\$[^$]*\$/g, ' ')) && !REMARK.test(said)) return withdrawnBy(said, also);
    if (COUNTERFACTUAL.test(said)) continue;
    if (speaksAgainst(it, known, before)) return withdrawnBy(said, also);
  }
  for (const m of rest.slice(sentence).matchAll(/####\s*([^\n]{1,200})|<answer>([\s\S]{1,300}?)<\/answer>/g))
    also.push(m[1] ?? m[2] ?? '');
  return { withdrawn: false, also: also.map((said) => said.trim()) };
}

const LAST = new RegExp(String.raw`^(.{0,80}?)(${VALUE})\**$`, 'iu');
/** "Altogether 10", "in fact 25", "with these it is 7": nothing but leading words, or "it is", before a value. */
function led(said: string): RegExpExecArray | [string, string] | null {
  const [all = '', lead = '', value = ''] = LAST.exec(said) ?? [];
  const words = wordsOf(lead).map((word) => word.toLowerCase());
  const closed =
    words.length > 0 &&
    words.every((word) => isLead(word) || word === 'make' || word === 'better' || /^[:=]$/.test(word));
  return closed || /\bit(?:[’']s| is)\s*\$?$/.test(lead) ? [all, value] : null;
}

/** The values that a sentence names as an answer. */
function statedIn(said: string): string[] {
  const bare = said.replace(/[.!;]+$/, '');
  const one = (ITS.exec(bare) ?? ALONE.exec(bare) ?? WORKS.exec(said) ?? led(bare))?.[1];
  return [...[...said.matchAll(STATED)].map((m) => m[1] ?? ''), ...(one === undefined ? [] : [one])];
}
