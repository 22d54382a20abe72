// What a text says behind its answer. Explanations and checks are free; a sentence that takes the answer back or speaks of
// its author's doubt leaves none, and another statement of an answer has to agree with the first. Linear.

import { sentenceEnd } from './account.ts';
import { inEnglish, WORK } from '../read/statement-words.ts';

const OPENS =
  /^(?:(?:hm+|um+|uh|ah|oh)\b[,.!]*\s*)?(?:wait|oops|ops|whoops|actually|scratch|correct(?:ion|ing)|no(?:pe)?(?=[,.!]|\s*$|\s+wait)|hm+|sorry|apolog|my (?:bad|mistake)|mistake|edit|erratum|errata|update|hold on|never ?mind|just kidding|kidding|jk\b|on (?:second thoughts?|reflection|closer)|not sure|not(?:[!.]|$)|not (?:quite|really|true|right)|unfortunately|alas\b|regrettabl|impossible\b|lol\b|ha(?:ha)*[,!. ]|april fool|psych\b|counter-?example|please (?:disregard|ignore)|strike|disregard|ignore|retract|replace|or (?:maybe|perhaps|rather|is it|possibly|else)|maybe|perhaps|wrong|false|incorrect|instead,|to correct|revis|reconsider|upon (?:re|further|closer)|aber|warte|moment|halt|falsch|nein|attend|mais|faux|non\b[,.!]|pero|espera|falso|perd[oó]n|но\b|нет|постой|等|不对|不\s*[，,]|应(?:该|当)?(?:是|为)|但|抱歉|错|其实|更正|哦|糟|すみません|待って|いや|訂正)/iu;
/** A turn to something else: it counts where a value follows that is not excluded there. */
const TURNS =
  /^(?:but|however|yet|or|alternatively|otherwise|though|although|still|in fact|on the other hand|rather|instead)\b/i;
const EXCLUDES =
  /\b(?:not|cannot|never|no|exclud\w*|reject\w*|impossible|extraneous|too|fails?|invalid|only)\b|n[’']t\b/i;
const VALUE = String.raw`(?:\$[^$\n]{1,200}\$|\\\([^\n]{1,200}?\\\)|[-−+]?\d{0,9}\\(?:[dt]?frac|sqrt|pi)[^\s.,;]*|[-−+]?[$€£¥₹]?\d[\d.,/]*(?:\s?%)?|\(?[A-J]\)?(?![A-Za-z])|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b)`;
/** A check: it shows in what it states. */
const CHECKS =
  /\b(?:let(?:[’']s| me| us)|we can(?: also)?|to|i(?:[’']ll| will)?|for) (?:just |quickly |also )?(?:double[- ]?|re-?)?(?:check|verif|confirm|ver\b|test)/i;
/** First person: only closing remarks are expected there. */
const OWN = /(?<![\p{L}\d$\\_^=(])(?:I|I[’']\w+|my|me|myself|sorry)(?![\p{L}\d_^=)])/u;
const REMARK =
  /^(?:so |and |therefore,? |thus,? )?(?:i (?:really )?(?:hope|trust|believe (?:it|this) is correct|am (?:confident|sure|happy|glad)|verified|checked|double-checked|used|have (?:verified|checked|shown|used|boxed)|conclude)|let me(?: know|$)|please let me|feel free|if you|do let me|would you|my (?:final )?answer\b|as i|i[’']m (?:confident|sure|happy|glad|here)|glad i|happy i)|\b(?:let me know|ask me|feel free|i hope)\b/i;
const RETRACTS =
  /\b(?:that|this|it|which|answer|above|he|she|they|box(?:ed)?|value|result|solution|former|claim)\b[^.!?\n\d]{0,40}(?:\b(?:wrong|incorrect|false|faulty|impossible|superseded|outdated|obsolete|mistake|mistaken|erroneous|invalid|refuted|nonsense|untrue|rejected|extraneous|contradicts?|violates?|double[- ]?counts?|over-?counts?|under-?counts?|misses|forgets|ignores|off by|too (?:big|small|large|high|low)|taken back)\b|n[’']t (?:right|correct|true|it)\b|\bnot (?:right|correct|true|the (?:\w+ )?answer|it|possible|what|valid|sure|certain)\b|\b(?:cannot|can[’']t) be\b)|\b(?:das|dies|es|c['’]est|esto|eso|è|это)\b[^.!?\n\d]{0,20}(?:falsch|faux|falso|incorrect|sbagliat|неверно)|\bscratch that\b|\btak(?:e|ing) (?:that|it) back\b|\bdouble[- ]check[^.]*≠|\bonly (?:a )?(?:joke|guess|joking|kidding)\b|\b(?:i|we) (?:lied|guessed|forgot|overlooked|missed|omitted|neglected|(?:over|double|under|mis)[- ]?counted)\b|\b(?:reference|official|book(?:['’]s)?|given|known) (?:solution|answer|key)\b|\bthe (?:question|problem|task) (?:was|is) (?:not )?about\b|\b(?:still|yet|it) (?:has|have|remains?|needs?) to\b|\b(?:has|have|remains?) (?:still |yet )?to be (?:added|subtracted|removed|multiplied|divided|counted|excluded|included|deducted|discarded)\b|\b(?:a |the )?re-?count\b/i;
/** What the answer would have to be, after "but". */
const DEMANDS =
  /\b(?:answer|value|result|number|solution|it) (?:must|should|has to|had to|needs? to|cannot|can[’']t)\b/i;

/** Of a source that the value was drawn from: "the key is faulty". */
const FAULTY =
  /\bthe (\p{L}{3,})\b[^.!?\n\d]{0,30}?\b(?:is|are|was|were|been|be)\b[^.!?\n\d]{0,20}\b(?:wrong|incorrect|false|faulty|flawed|mistaken|superseded|invalid|unreliable)\b/iu;

export interface After {
  readonly withdrawn: boolean;
  /** What the text names as an answer once more. */
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

export function afterwards(text: string, end: number, value: string): After {
  const also: string[] = [];
  // Behind the value its own sentence goes on, which is accounted for elsewhere.
  const rest = text.slice(end);
  const sentence = sentenceEnd(rest);
  const later = inEnglish(rest.slice(sentence)).replace(/\*\*|__|[“”"]/g, '');
  const own = value.trim();
  // Of the value itself "6 is wrong" says what "it is wrong" says.
  const mention =
    own === '' || own.length > 60
      ? undefined
      : new RegExp(`\\$?(?<![\\w.,\\\\])${own.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')}(?!\\w)\\$?`, 'g');
  const states = (noun: string): boolean =>
    text
      .slice(Math.max(0, end - 300), end)
      .split(/[.!?]\s/)
      .at(-1)
      ?.toLowerCase()
      .includes(noun.toLowerCase()) ?? false;
  // A model that runs on says the same sentence many times.
  const sentences = new Set(later.split(/(?<=[.!?;])(?<!(?:^|\n)[ \t]{0,4}\d{1,2}\.)(?=\s)|[。！？；\n]/u));
  for (const raw of sentences) {
    const said = raw
      .trim()
      .replace(/^(?:[-•>#(]|\d+[.)](?=\s\p{L})|note:?|n\.?b\.?:?|ps:?)+\s*/iu, '')
      .slice(0, 600);
    if (said === '') continue;
    const it = mention === undefined ? said : said.replace(mention, 'it');
    const checks = CHECKS.test(said) && !/≠|\\ne(?:q|\b)/.test(said);
    if ((OPENS.test(said) && !checks) || RETRACTS.test(it)) return { withdrawn: true, also };
    const source = FAULTY.exec(said)?.[1];
    if (source !== undefined && !/^(?:other|option|choice|statement)s?$/i.test(source) && states(source))
      return { withdrawn: true, also };
    if (WORK.test(said) && !checks) return { withdrawn: true, also };
    if (TURNS.test(said) && DEMANDS.test(it)) return { withdrawn: true, also };
    if (TURNS.test(said) && new RegExp(VALUE, 'u').test(it.replace(/^\w+/, '')) && !EXCLUDES.test(said))
      return { withdrawn: true, also };
    if (OWN.test(said.replace(/\$[^$]*\$/g, ' ')) && !checks && !REMARK.test(said)) return { withdrawn: true, also };
    if (/^(?:note|if|were|had|had)\b.*\bwould\b|\bif\b.*\bwould\b|\bwould\b.*\bif\b/i.test(said)) continue;
    for (const m of said.matchAll(STATED)) also.push(m[1] ?? '');
    const one = (ITS.exec(said.replace(/[.!;]+$/, '')) ??
      ALONE.exec(said.replace(/[.!;]+$/, '')) ??
      WORKS.exec(said))?.[1];
    if (one !== undefined) also.push(one);
  }
  for (const m of rest.slice(sentence).matchAll(/####\s*([^\n]{1,200})|<answer>([\s\S]{1,300}?)<\/answer>/g))
    also.push(m[1] ?? m[2] ?? '');
  return { withdrawn: false, also: also.map((said) => said.trim()) };
}
