// Words that exclude each other: of each row a statement names what the question names. Tables only. Words that mean the same stand in
// one group; `|` parts the groups of a row.

import { MANY, remembered } from '../remembered.ts';

const IRREGULAR: Readonly<Record<string, string>> = Object.fromEntries(
  (
    'men:man women:woman children:child people:person ladies:lady radii:radius mice:mouse geese:goose feet:foot teeth:tooth dice:die oxen:ox wolves:wolf loaves:loaf shelves:shelf knives:knife seconds:seconds bought:buy sold:sell gave:give given:give ' +
    'ate:eat eaten:eat made:make took:take taken:take spent:spend paid:pay lost:lose won:win wrote:write written:write ran:run drove:drive driven:drive ' +
    'rode:ride went:go gone:go got:get found:find kept:keep drank:drink drunk:drink swam:swim flew:fly grew:grow grown:grow broke:break broken:break ' +
    'caught:catch built:build sent:send lent:lend fell:fall fallen:fall rose:rise saw:see came:come began:begin chose:choose drew:draw threw:throw ' +
    'brought:bring taught:teach held:hold met:meet wore:wear slept:sleep stood:stand laid:lay fed:feed this:this his:his has:have had:have sewn:sew shown:show known:know flown:fly use:use owe:owe bring:bring add:ad adds:ad egg:eg age:age does:do did:do'
  )
    .split(' ')
    .map((pair) => pair.split(':') as [string, string]),
);

/** One form of the singular and the plural, of the persons and tenses of a verb. */
export const lemma = remembered((word) => {
  const known = Object.hasOwn(IRREGULAR, word) ? IRREGULAR[word] : undefined;
  if (known !== undefined) return known.replace(/e$/, '');
  if (word.length < 4) return word;
  return word
    .replace(/(?:ies|ied)$/, 'y')
    .replace(/(?<=s|sh|ch|x|z)es$|(?<![su])s$/, '')
    .replace(/(?<=[^e]{2})(?:ed|ing)$|(?<=[b-df-hj-np-tv-z]e[lnrt])ed$/, '')
    .replace(/([b-df-hj-km-np-rt])\1$/, '$1')
    .replace(/e$/, '');
}, MANY);

const row = (text: string): readonly (readonly string[])[] => text.split('|').map((group) => group.trim().split(/\s+/));

/** Say when, which one, or of what kind: where a question names two of a row, a statement about both names both or none. */
export const KINDS = [
  'monday | tuesday | wednesday | thursday | friday | saturday | sunday',
  'january | february | march | april | may | june | july | august | september | october | november | december',
  'morning breakfast | noon midday lunch | afternoon | evening dinner | night | midnight',
  'yesterday | today | tomorrow',
  'spring | summer | autumn | winter',
  'first | second | third | fourth | fifth | sixth | seventh | eighth | ninth | tenth | last',
  'red | blue | green | yellow | white | black | pink | purple | brown | gray grey | silver | orange',
  'husband father dad brother son uncle grandfather king boy man male he gentleman | wife mother mom sister daughter aunt grandmother queen girl woman female she lady',
  'adult grownup | child kid | teacher | student pupil',
  'husband wife | father mother parent | brother sister sibling | son daughter',
  'circle | square | triangle | rectangle | cone | cylinder | sphere | cube | pyramid | prism | hexagon | pentagon | octagon | heptagon | nonagon | decagon | dodecagon | trapezoid | parallelogram | rhombus',
  'small | medium | large',
  'single | double | triple',
  'north | south | east | west',
  'heart | spade | diamond | club',
  'penny | nickel | dime | quarter',
].map(row);

/** Contraries. */
export const CONTRARIES = [
  'maximum largest greatest larger greater bigger biggest highest longest higher longer most best upper | minimum smallest least smaller lowest shortest lower shorter fewest worst',
  'oldest older elder eldest | youngest younger',
  'tallest taller | shortest shorter',
  'fastest faster quicker | slowest slower',
  'heaviest heavier | lightest lighter',
  'warmer hotter warmest | colder cooler coldest',
  'wider widest | narrower narrowest',
  'greater above over exceeding more | less below under fewer',
  'buy bought | sell sold',
  'win won | lose lost | tie tied drew',
  'arrive arrival | leave left departure depart',
  'pass passed | fail failed',
  'lend lent | borrow borrowed',
  'increase rise rose grow | decrease fall fell drop reduce shrink',
  'correct correctly right | wrong wrongly incorrect incorrectly',
  'even | odd',
  'vowel | consonant',
  'positive | negative',
  'before | after',
  'upstream | downstream',
  'uphill | downhill',
  'top | bottom',
  'front | back',
  'inner inside interior | outer outside exterior',
  'head | tail',
  'faulty defective broken rotten spoiled damaged | intact good',
  'free vacant empty | occupied taken',
  'loaded | unloaded',
  'new | old used',
  'simple | compound',
  'gross | net',
  'real | imaginary',
  'sin sine | cos cosine | tan tangent',
  'internal | external',
  'numerator | denominator',
  'outward outbound | return back',
  'discount saving | price cost | tax | tip | change | profit | loss | interest | rent | deposit | debt | salary wage income',
  'principal | interest | amount',
  'kinetic | potential',
  'income revenue takings earnings earn | expense spend spent profit',
  'only | both | neither | either',
].map(row);

/** The names of a quantity, and the words that ask for it. */
export const QUANTITIES = row(`
  length long distance far | width wide breadth | height tall high altitude | depth deep | area | perimeter | circumference |
  volume capacity | diameter | radius radii | diagonal | hypotenuse | side edge | speed fast velocity rate pace | age old | weight mass weigh heavy |
  temperature warm cold hot | time duration hour minute second when | angle | slope gradient steep | intercept | sum | product | difference differ | quotient |
  remainder | divisor factor gcd | ratio | average mean | median | mode | range | variance | deviation | probability chance odds likelihood likely |
  percent percentage | gcd gcf hcf divisor factor | lcm | numerator | denominator | determinant | trace | rank | nullity | discriminant |
  derivative | integral | limit | acceleration | momentum | energy work | force | power | pressure | current |
  voltage | resistance | density | frequency | cost price pay fare fee | change | discount | tax | profit | loss | interest | rent | debt |
  salary wage income earn | score`);

/** Verbs after which one has less. */
export const LOSSES = new Set(
  'give sell spend pay lose eat use lend donate drink break invest owe'.split(' ').map(lemma),
);
/** Verbs of having and finding say nothing of what was done. */
export const NEUTRAL = new Set(
  'receive have has had be is are do does did get find need take make total equal contain hold remain left left leave see obtain yield follow total time sum number add'
    .split(' ')
    .map(lemma),
);
