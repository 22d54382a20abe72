// The words an answer may hold besides its value. The world is closed: a word that stands in none of these tables,
// is no unit and is not in the solution either, makes an answer another one. Tables only.

import { wordMap, wordSet } from './vocabulary.ts';

/** May stand directly before a value: articles, verbs and names for a value. None of them can change it. */
const LEADING = wordSet(`
  the an a is are was were be answer answers ans final result results value values equal equals equivalently namely
  exactly precisely just simply only so then thus therefore hence that this these those it he she they there we you i my our your
  get gets got have has had obtain find found indeed clearly obviously certainly evidently must should needs need
  total altogether overall combined both all either in correct solution solutions roots number numbers amount quantity
  required desired finally also again possible different distinct following
  area volume length width height depth perimeter circumference radius diameter probability distance speed rate
  cost price profit revenue age weight mass ratio fraction percentage minimum maximum set interval
  exist exists remaining left`);
/** Change nothing, before a value or behind it: "so the answer is", "in total", "left". */
const FILLERS: ReadonlySet<string> = new Set([
  ...LEADING,
  ...wordSet(`
    its his her their works of on at to by from into during per unique such more long tall wide high deep away old root
    sum smallest largest side chance average mean median mode range expected expression function sequence equation
    domain measure degree shaded surface coordinates point greatest 个 個 只 本 人 名 们 です 个です 個です them respectively do does
    can together worth apart here`),
]);
const LINKING = wordSet('is are was were be equals equal get gets got have has had obtain find found need needs : =');
/** "a total of 6" is 6; of a sum, a root, a multiple or the digits of 6 nobody can say so. */
/** "The point (1, 2)", "all integers n ≥ 3"; behind a value they count things. */
const KINDS = wordSet(
  'integers real point points coordinates ordered pair pairs function equation expression sequence line vector matrix',
);
const OF = wordSet('total value answer result amount');

/** Do the words before a value only lead to it? */
export function leadsTo(led: string): boolean {
  const all = led.toLowerCase().match(/[a-z’']+|[:=]/g) ?? [];
  const link = all.findLastIndex((word) => LINKING.has(word));
  return all
    .slice(link + 1)
    .every((word, k, rest) => (word === 'of' ? OF.has(rest[k - 1] ?? '') : LEADING.has(word) || KINDS.has(word)));
}

/** An adjective that is the last word behind a number, and what turns its sign: "6 negative", "6 loss". */
export const isChanging = (word: string): boolean => CHANGING.has(word);
const CHANGING = wordSet(
  'negative loss deficit short prime primes before after factorial minus plus times over modulo percent',
);

/** A hedge before or behind a whole number bounds it; before a decimal, and behind a value and "or", it says that it was rounded. */
const HEDGES =
  /(?<![a-z\\])(?<!\bor\s)(?:approximately|approx\.?|about|roughly|around|circa)(?![a-z])|^\s*(?:\\approx|≈)|^~(?=\s?\d[^\\]*$)/gi;
export const withoutHedges = (text: string): string => text.replace(HEDGES, ' ');
export const isHedged = (text: string): boolean => text.search(HEDGES) >= 0;

/** Count what they stand behind: "42 apples". Read without their ending. */
const NOUNS = wordSet(`
  unit way time point piece item thing object element member case term digit integer factor divisor multiple prime
  solution root pair triple tuple set subset group sequence permutation combination arrangement selection choice
  outcome possibility function polynomial equation inequality path route walk step move turn round game match
  square rectangle triangle circle quadrilateral polygon region side edge vertex corner face diagonal angle line segment ray plane
  row column cell tile block cube box bag basket crate carton package packet pack container jar bottle can cup glass bowl
  plate spoon fork knife tray bucket tank barrel drum pot pan bin shelf drawer cabinet
  person man woman child kid boy girl adult baby student pupil teacher worker employee player team friend guest
  visitor customer passenger member voter vote candidate soldier sailor farmer doctor nurse patient driver runner rider
  cat dog bird fish cow horse sheep pig goat chicken hen duck goose rabbit mouse rat frog toad snake lion tiger bear
  elephant monkey ant bee spider insect butterfly animal pet egg leg head wing tail
  apple orange banana pear peach plum grape lemon lime mango melon cherry berry strawberry blueberry fruit vegetable
  potato tomato carrot onion pepper cabbage bean pea corn seed plant tree flower rose tulip leaf bush branch
  cookie cake pie cupcake brownie muffin donut doughnut bagel bread loaf sandwich pizza slice burger hotdog taco candy
  chocolate lollipop sweet marshmallow chip snack meal lunch dinner breakfast serving portion calorie drink soda juice
  book page chapter magazine newspaper letter word sentence paragraph line note card stamp sticker poster picture
  photo painting pencil pen crayon marker eraser ruler notebook paper sheet envelope
  ball bat racket toy doll block puzzle marble bead button coin penny nickel dime bill ticket token balloon
  shirt shoe sock hat coat jacket dress pant skirt scarf glove ring necklace bracelet earring
  car truck bus train plane boat ship bike bicycle wheel tire seat room house apartment building floor window door
  wall fence table chair desk bed lamp clock phone computer video song movie show episode
  class lesson school grade test exam question problem homework point score goal run win loss draw
  hit shot lap trip ride visit flight stop station street road block city town state country village
  clip gift present toothpick stick stone rock brick board pole post rope string ribbon thread wire pipe nail screw
  bolt tool machine part batch order sale shift job task project bale bundle stack pile
  red blue green yellow white black pink purple brown gold silver small big large new full empty
  positive negative real complex rational irrational whole natural ordered unordered nonzero even odd`);

const IRREGULAR = wordMap(`
  men:man women:woman children:child people:person vertices:vertex mice:mouse geese:goose
  leaves:leaf loaves:loaf knives:knife shelves:shelf pennies:penny`);

/** Without the ending of the plural, so that one form stands for both. */
export function singular(word: string): string {
  if (NOUNS.has(word) || word.length < 4) return word;
  const forms = [word.replace(/s$/, ''), word.replace(/es$/, ''), word.replace(/ies$/, 'y')];
  return IRREGULAR.get(word) ?? forms.find((form) => NOUNS.has(form)) ?? forms[0] ?? word;
}

export const isFiller = (word: string): boolean => FILLERS.has(word);
export const isNoun = (word: string): boolean => NOUNS.has(singular(word));
export const isHarmlessWord = (word: string): boolean => isFiller(word) || isNoun(word);

/** Words that stand for a factor: "3 dozen", "2 hundred", "5 thousand", "3 quarters". */
export const SCALES: ReadonlyMap<string, readonly [bigint, bigint]> = new Map(
  [
    ...wordMap(`dozen:12 dozens:12 hundred:100 hundreds:100 thousand:1000 thousands:1000 lakh:100000 million:1000000
  millions:1000000 crore:10000000 billion:1000000000 billions:1000000000 trillion:1000000000000 half:1/2 halves:1/2 quarter:1/4
  third:1/3 thirds:1/3 fourth:1/4 fourths:1/4 quarters:1/4 fifth:1/5 fifths:1/5 sixth:1/6 sixths:1/6 seventh:1/7 sevenths:1/7 eighth:1/8 eighths:1/8 ninth:1/9 ninths:1/9
  tenth:1/10 tenths:1/10 hundredth:1/100 hundredths:1/100 thousandths:1/1000`),
  ].map(([word, value]) => {
    const [top = '', bottom = '1'] = value.split('/');
    return [word, [BigInt(top), BigInt(bottom)]];
  }),
);

/** Deny a value, doubt it, bound it or change it: what they govern is no answer. */
const REFUSING = wordSet(`
  not no never neither nor without cannot wrong incorrect false untrue invalid mistaken impossible excluded doubt doubtful
  maybe perhaps possibly probably likely unlikely might may could suppose assume guess if unless whether except but
  least most more less fewer than over under above below beyond exceed exceeds exceeding greater larger smaller
  bigger lower higher upto within nearly almost hardly barely scarcely anything opposite far
  half twice double triple thrice quarter minus negative plus square cube squared cubed le leq leqslant ge geq geqslant ne neq lt gt < > ≤ ≥ ≠ ±`);

export const isRefusing = (word: string): boolean => REFUSING.has(word.toLowerCase()) || /n[’']t$/i.test(word);
