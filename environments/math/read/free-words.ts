// Words that a statement of an answer may hold whatever is asked: they name no thing, no time, no deed and no quantity. And words that
// mean the same in statements. Tables only, compared by their lemma.

import { lemma, QUANTITIES } from './contrasts.ts';

const lemmas = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/).map(lemma));

/** Articles, pronouns, auxiliaries, words that lead to a conclusion or name the answer. */
const FREE = lemmas(`
  the a an this that these those it its he she him her his they them their theirs we us our you your i me my myself one ones who whom which what
  there here where when while how as if is are was were be been being am has have had having do does did done will would can could shall should must
  may might let lets get gets got getting gotten need needs needed have need take takes took taken taking make makes made making give gives gave given giving
  of in on at to by from into onto for with within per out up down through until till upon about because since due via
  so then thus therefore hence consequently accordingly finally now ultimately overall altogether total totals totaling all in
  and also too indeed just exactly precisely simply clearly obviously evidently actually certainly definitely really basically currently already only
  answer result value solution conclusion amount quantity figure number count equal equals equivalent same such following follows
  find found obtain obtained see know conclude conclusion deduce means mean implies imply show shows become becomes come comes came
  yield yields yielding lead leads leave leaves leaving bring brings work works out arrive arrives reach reached turn turns call denote let set
  correct right final exact exactly required desired requested asked question problem unknown unique
  different distinct possible such certain okay ok well alright yes sure nice great
  combining computing calculating substituting solving adding subtracting multiplying dividing simplifying evaluating plugging using taking
  calculation computation formula equation expression theorem rule law principle definition symmetry induction step method approach reasoning
  compute computed calculate calculated determine determined evaluate evaluates simplify simplifies simplified express expressed written write form
  rounded rounding round approximately roughly nearly about nearest
  contain contains contained hold holds held measure measures measured converge converges evaluate evaluates account accounts amount amounts add adds added continue continues
  unit units go goes point number one integer real interval notation exactly function value term set
  missing decimal fraction form calculation
  and or after over during around away simplest consist consists whose text option options choice choose select picks pick looking namely terms lowest data given polynomial apart reality mr mrs ms miss dr thousand hundred million how actual whole entire full complete own simply put words word case general explicit job task`);
export const isFree = (word: string): boolean => FREE.has(word);

const GROUPS = `
  use consume burn require need spend take | pay spend charge worth owe due cost | receive get gain earn make | have own hold contain has possess keep |
  begin start open | end finish over close complete | travel go drive cover ride walk run | buy purchase get | show read say display |
  people person human individual | child kid | each every apiece per | remain left remaining leftover rest still over |
  large big great | larger bigger greater | maximum max largest greatest biggest most highest | minimum min smallest least lowest fewest |
  integer number | solution root zero | way possibility choice option arrangement | neither nor | expected average | sell sale | altogether total together both combined overall sum all |
  time long duration last | factor divisor divide divisible division quotient dividing | digit number | letter character | student pupil | create form make build construct |
  arrange order | choose pick select | produce make | hand give | sit seat | more difference differ exceed | coordinate point locate | save put | angle measure degree |
  now present current | discount save saving reduction | sale reduced discount discounted | without not | wrong wrongly incorrect incorrectly |
  right rightly correct correctly | pay rent | pay fee | pay bill | pay fare | pay tax | pay price | check see examine treat | pull draw take pick |
  fence fencing enclose perimeter | median middle | intercept cross intersect axis | notation read | distance far travel go cover |
  earn make income earning wage salary | day daily | week weekly | month monthly | hour hourly | year yearly annual annually |
  earn come take bring raise | sew finish complete produce make | knit finish complete produce make | bake finish complete produce make | paint finish complete |
  build finish complete produce make | assemble finish complete produce make`;
const MEANINGS = new Map<string, Set<number>>();
for (const [k, group] of [
  ...GROUPS.split('|').map(lemmas),
  ...QUANTITIES.map((words) => new Set(words.map(lemma))),
].entries())
  for (const word of group) MEANINGS.set(word, (MEANINGS.get(word) ?? new Set()).add(k));
const NONE: ReadonlySet<number> = new Set();
/** Phrases that mean one verb. */
const IDIOMS: readonly (readonly [RegExp, string])[] = [
  [/\bwalk\p{L}* away with\b|\b(?:end|wind|wound)\p{L}* up with\b/giu, 'gets'],
  [/\bset\p{L}* (?:\p{L}+ ){0,2}?back(?=\s*⟦)|\bset (?:him|her|them|you|us|me) back\b/giu, 'costs'],
  [/\b(?:takes?|took|brings?|brought) (?:home|in)(?=\s*⟦)/giu, 'earns'],
  [/\b(?:pays?|paid|gives?|gave|hands?|handed) back\b/giu, 'pays'],
  [/\b(?:gets?|got|receives?|received|gets?) (?=⟦ \p{L}* ?back\b)/giu, 'gets '],
  [/(?<=⟦\s{1,3}(?:\p{L}+ )?)back(?= in change|[\s.,]*$)/giu, ' '],
  [/\bput(?:s)? in(?=\s*⟦)/giu, 'works'],
];
const PARTICLE = /\b(?:away|up|back|home|in)\b/i;
export const withoutIdioms = (said: string): string =>
  PARTICLE.test(said) ? IDIOMS.reduce((text, [form, by]) => text.replace(form, by), said) : said;
/** The groups of words of one meaning in which a word stands. */
export const meaningsOf = (word: string): ReadonlySet<number> => MEANINGS.get(word) ?? NONE;

/** "the two numbers", "all three" count what was named. */
export const isPointing = (word: string): boolean => /^(?:the|thes|thos|all|both|any|her|his|their|its)$/.test(word);

/** Names of the signs of a formula. */
const SIGNS: readonly (readonly [RegExp, string])[] = [
  [/\\int|∫/, 'integral antiderivative'],
  [/\\lim/, 'limit'],
  [/\\cap|∩/, 'intersection common elements'],
  [/\\cup|∪/, 'union elements'],
  [/\\(?:cdot|times)|[·×*]/, 'product dot cross'],
  [/\+|\\sum|\bplus\b/, 'sum series'],
  [/[^A-Za-z]-/, 'difference'],
  [/\^/, 'power square squares expression cube'],
  [/\\log|\\ln|\blog/, 'log logarithm exponent base raised'],
  [/\\binom/, 'coefficient combination'],
  [/\\sqrt|√/, 'root radical'],
  [/matrix/, 'matrix matrices'],
  [/\\det|\|/, 'determinant absolute modulus'],
  [/!/, 'factorial trailing'],
  [/\b[fghp]\s?\(/, 'function'],
  [/\bfactor/i, 'factorization factored product'],
  [/\bexpand|\)\s?\(/i, 'expansion expanded product'],
  [/\bsolv|=/i, 'solution root value variable equation valid'],
  [/[<>]|\\[lg]e/, 'inequality open closed interval set half'],
  [/_\{?[\dn]/, 'sequence term'],
  [/\([a-z], ?\\?[a-z]+\)/, 'ordered pair point'],
  [/interval/, 'open closed half set'],
  [/\bdomain|\brange/, 'real all number set'],
];
export const signsIn = (text: string): ReadonlySet<string> =>
  new Set(SIGNS.flatMap(([form, names]) => (form.test(text) ? [...lemmas(names)] : [])));

/** Any thing may be called so. */
const GENERIC = lemmas(
  'way time piece item thing object element member term person unit integer value solution pair triple set case outcome possibility ' +
    'arrangement choice option path route point coin flower fruit animal vegetable vehicle book',
);
export const isGeneric = (noun: string): boolean => GENERIC.has(noun);

const FOREIGN =
  /[^\x00-\u024F\u0370-\u03FF\u2000-\u2BFF\u{1D400}-\u{1D7FF}⟦]|(?<!\p{L})(?:der|das|des|und|ist|sind|wie|viele|el|los|las|una|cuánt\p{L}+|qual|quelle?|combien|les|est|est-ce|il y a|il|è|é|em|são|quanti)(?!\p{L})/iu;
/** Does a text seem to be in another language than English? */
export const isForeign = (text: string): boolean => FOREIGN.test(text);
