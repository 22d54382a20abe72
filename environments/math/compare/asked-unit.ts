// The unit that a question asks for, and whether an answer has another one: 20 hours for minutes, 15 boys for girls, 7 cm for an area.
// Reads a short text.

import { askedOf, ratesOther, SCALED } from '../find/asked.ts';
import { namesContrary } from '../find/contrast.ts';
import { countsAnother, countsNothing, countsThings, namesThing, unitCounted } from '../find/counted.ts';
import { equal, mul, rational } from '../rational.ts';
import { type Unit, unitOf } from '../read/unit-words.ts';
import { remembered } from '../remembered.ts';

const unitIn = (phrase: string): Unit =>
  unitOf(
    phrase.replace(/\bdegrees?\s+(celsius|fahrenheit|[CF])(?![A-Za-z])/gi, (_, scale: string) =>
      scale[0]?.toUpperCase() === 'C' ? 'celsius' : 'fahrenheit',
    ),
  );

/** The question asks for another unit, or for another thing that it counts: 20 hours for minutes, 15 boys for girls. */
export function isOtherUnit(phrase: string, question: string): boolean {
  const own = question === '' ? undefined : unitIn(phrase);
  if (!own) return false;
  if (own.dimension !== '' && countsThings(question) && !measuresThing(own, question)) return true;
  if (isOtherPower(own.nouns, question) || narrows(phrase, question) || countsAnother(phrase, question)) return true;
  if (asksNoThing(question) && namesThing(phrase, question)) return true;
  if (own.dimension === '') return ratesOther(phrase, question);
  if (/^\s*pounds?\s*$/i.test(phrase) && (/£|\bpounds?\b/i.test(question) || isMeasured('money^1', question)))
    return false;
  const wanted = askedUnit(question);
  if (wanted?.dimension === own.dimension) return !equal(wanted.factor, own.factor);
  if (wanted) {
    if (!isRateOf(own, wanted, question)) return true;
    if (!ratesOther(phrase, question)) return false;
  }
  if (!isMeasured(own.dimension, question) || (!wanted && isOtherKind(own.dimension, question))) return true;
  const alike = kindOf(own.dimension);
  // Dollars are what money is told in, beside any coins.
  if (/^money-usd\^1$/.test(own.dimension) && equal(own.factor, ONE) && /\bhow much\b/i.test(askedOf(question)))
    return false;
  const asked = unitsMeasured(question).filter(({ dimension }) => kindOf(dimension) === alike);
  const same = ({ dimension, factor }: Unit): boolean => dimension === own.dimension && equal(factor, own.factor);
  return asked.length > 0 ? !asked.some(same) : /\bhow old\b/i.test(question) && own.dimension !== 'year^1';
}
/** "How many grapes" where the question speaks of kilograms of grapes. */
const measuresThing = (own: Unit, question: string): boolean => {
  const thing = /\bhow many (\p{L}{3,})/iu.exec(askedOf(question))?.[1] ?? '';
  return (
    thing !== '' &&
    [...question.matchAll(new RegExp(String.raw`\d\s?([A-Za-z]+) of (?:\p{L}+ )?${thing}(?!\p{L})`, 'giu'))].some(
      ([, unit = '']) => unitOf(unit).dimension === own.dimension && equal(unitOf(unit).factor, own.factor),
    )
  );
};
/** "540 meters per week" where meters are asked for and the question speaks of a week. */
const isRateOf = (own: Unit, wanted: Unit, question: string): boolean =>
  own.dimension.includes(wanted.dimension) &&
  [...question.matchAll(/\b(?:second|minute|hour|day|week|month|year)(?=s?\b)/gi)].some(([time]) =>
    equal(mul(unitOf(time).factor, own.factor), wanted.factor),
  );

const unitsIn = remembered((question: string): readonly Unit[] =>
  [...question.matchAll(UNIT_PHRASE)]
    .filter(([said]) => !/^(?:in|a|at|as|us)$/i.test(said))
    .map(([said]) => unitOf(said.replaceAll('$', 'dollars'))),
);

/** Units of numbers: "20 minutes", and no week of "each week". */
const unitsMeasured = remembered((question: string): readonly Unit[] =>
  [...question.matchAll(MEASURED)].map(([said]) => unitOf(said.replaceAll('$', 'dollars'))),
);
const MEASURED =
  /(?<=\d[\s-]?|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|half|quarter|many|few|several)[\s-](?:an?\s)?)(?:(?:square|cubic|sq)\s+)?[A-Za-z]+(?:[²³]|\^\d)?|[$€£]/gi;
const ONE = rational(1n);

/** Does the question ask for a measure or for a number of its own, and for no thing? */
const asksNoThing = remembered(
  (question: string): boolean =>
    countsNothing(question) &&
    (askedUnit(question) !== undefined ||
      ABSTRACT.test(askedOf(question)) ||
      FORMULA.test(question) ||
      [...QUANTITIES, ...HOW].some(([form]) => form.test(askedOf(question)))),
);
const FORMULA = /\\[a-z]|[\^]|\w_\{?\w|\b[a-zA-Z]\([a-z\d]/i;
const ABSTRACT =
  /\\[a-z]|[\^=+]|\b(?:sum|product|remainder|value of|solve|compute|evaluate|integer|determinant|coefficient|slope|digit|prime|polynomial|function|equation|probability|fraction|percent|median|mean|ratio|divisor|multiple|term|factorial|sequence|roots?|integral|limit|derivative|logarithm)\b/i;

/** An answer has a unit of a kind only where the question holds one of that kind or speaks of what has one. */
const SPOKEN: readonly (readonly [RegExp, RegExp])[] = [
  [
    /^length\^/,
    /\b(?:length|long|far|distance|tall|height|high|wid(?:e|th)|breadth|deep|depth|perimeter|circum\w+|radi(?:us|i)|diameter|sides?|edges?|area|volume|capacity|surface|hypotenuse|altitude|median|chord|triang\w+|circ\w+|squares?(?! root)|rectang\w+|cub(?:e|ic)|sphere|cone|cylinder|pyramid|prism|segment|walk\w*|travel\w*|dr[io]ve\w*|r[ua]n\w*|route|road|polygon|\w+agon|trapez\w+|parallelogram|rhombus|ellipse|diagonal|speed|fast|tank|water|[A-Z]{2})\b/,
  ],
  [
    /^(?:time|month|year)\^/,
    /\b(?:long|when (?:do|does|did|will)|time|duration|old|ages?|later|ago|clock|o'clock|speed|rate|fast|slow|period|morning|noon|evening|born|[ap]\.?m)\b/i,
  ],
  [/^mass\^/, /\b(?:mass|weigh\w*|heav\w+|amount|lift\w*|load\w*)\b/i],
  [
    /^money/,
    /\b(?:costs?|prices?|pay\w*|paid|earn\w*|spen\w+|sell\w*|sold|buy\w*|bought|money|profit|salary|wages?|income|revenue|bill|interest|invest\w*|charg\w+|fees?|fare|tips?|discount|worth|sav\w+|owe\w*|budget|bank|account|loan|rent|tax\w*|donat\w+|fund\w*|expens\w+|cheap\w*)\b/i,
  ],
  [
    /^(?:angle|radian)\^/,
    /angle|degree|rotat|turn|\w+gon\b|slope|bearing|latitude|\barc|\b(?:sin|cos|tan|sec|csc|cot|arg)|\\(?:sin|cos|tan|sec|csc|cot|arg|theta|alpha|beta|gamma|phi|varphi|circ|arc\w+)|θ|°|phase|circle|\bhands?\b|clock|temperature/i,
  ],
];
function isMeasured(dimension: string, question: string): boolean {
  if (!/\b(?:the|is|are|what|how|find|of|if|compute|solve|evaluate)\b/i.test(question)) return true;
  const held = unitsIn(question)
    .map((unit) => kindOf(unit.dimension))
    .join(' ');
  return dimension.split(' ').every((one) => {
    const [base = ''] = kindOf(one).split('^');
    const spoken = SPOKEN.find(([form]) => form.test(one));
    return spoken === undefined || held.includes(`${base}^`) || spoken[1].test(question);
  });
}

/** Months, years and days measure the same, but for no fixed factor. */
const kindOf = (dimension: string): string => dimension.replace(/(?<![a-z-])(?:month|year)\^/g, 'time^');

/** No degrees are meant where things are counted, where another unit is asked for and where nothing turns. */
export const isNoAngle = (question: string): boolean =>
  question !== '' &&
  (countsThings(question) ||
    !/^(?:angle|radian|celsius|fahrenheit|temperature)/.test(askedUnit(question)?.dimension ?? 'angle') ||
    !isMeasured('angle^1', question) ||
    (!askedUnit(question) && isOtherKind('angle^1', question)));

/** "12 more", "12 left" and "12 wide", where the question asks for nothing of the kind. */
function narrows(phrase: string, question: string): boolean {
  const lacks = (said: RegExp, asked: RegExp): boolean => said.test(phrase) && !asked.test(question);
  const last = /[a-z]+\s*$/.exec(phrase)?.[0].trim() ?? '';
  return (
    lacks(
      /\b(?:more|fewer|less|extra|additional)\b/i,
      /\b(?:more|fewer|less|extra|additional|another|still|needs?|left|remain\w*|than|differ\w*)\b/i,
    ) ||
    lacks(/\b(?:left|remaining)\b/i, /\b(?:left|leave|remain\w*|rest|over|still|now|after|end|ha(?:s|ve|d))\b/i) ||
    (/^(?:tall|high|wide|deep|long|old|far|away)$/.test(last) &&
      (namesContrary(last, question) ||
        !/\b(?:length|long|distance|far|tall|high|height|wide|width|deep|depth|old|age|away)\b/i.test(
          askedOf(question),
        )))
  );
}
/** "cubic units" for an area, "square units" for a volume, and both where things are counted. */
const isOtherPower = (nouns: ReadonlySet<string>, question: string): boolean => {
  const asked = askedOf(question);
  const volume = /\b(?:volume|cubic|capacity|space|solid|size|large|big|fill)/i;
  const area = /\\int|\b(?:area|square|surface|integral|region|enclos\w+|size|large|big)/i;
  return (
    (nouns.has('unit^3') && (!volume.test(question) || (/\barea\b/i.test(asked) && !/\bvolume\b/i.test(asked)))) ||
    (nouns.has('unit^2') && (!area.test(question) || (/\bvolume\b/i.test(asked) && !/\barea\b/i.test(asked))))
  );
};

/** The unit that a question asks for by name: "How many minutes", "in square meters". */
export const askedUnit = remembered((question: string): Unit | undefined => {
  const counted = unitCounted(question);
  const said = [...askedOf(question).matchAll(ASKED_UNIT)].map((m) => m[1] ?? '');
  if (counted !== undefined && !said.some((one) => one.includes(counted))) said.push(counted);
  const units = said
    .map(unitIn)
    .filter(({ dimension, unknown, nouns }) => dimension !== '' && unknown.length + nouns.size === 0);
  const [unit] = units;
  return unit && units.every((u) => u.dimension === unit.dimension && equal(u.factor, unit.factor)) ? unit : undefined;
});
const UNIT = String.raw`(?:degrees?\s+(?=celsius|fahrenheit))?(?:(?:square|cubic|sq)\s+)?[A-Za-z]+(?:\s?(?:\/|\bper\b|\ban?(?=\s+(?:second|minute|hour|day|week|year)))\s?[A-Za-z]+)?(?:[²³]|\^\d)?`;
const UNIT_PHRASE = new RegExp(`${UNIT}|[$€£]`, 'g');
const ASKED_UNIT = new RegExp(
  String.raw`\b(?:how many|number of|in|en|em)\s+(?:(?:extra|total|more|additional|fewer|full|whole)\s+)?(${UNIT})(?![A-Za-z]|\s?(?:[·⋅*]|\\cdot))`,
  'gi',
);

/** "The area in square feet is": words before a value that name another unit than the asked one, of any kind that is measured. */
const NAMED_UNIT = new RegExp(String.raw`\bin\s+(${UNIT})\s+(?:is|are|was|equals)\b[^.,;:]*$`, 'i');
export function namesOtherUnit(before: string, question: string): boolean {
  const said = NAMED_UNIT.exec(before)?.[1];
  const [own, wanted] = [said === undefined ? undefined : unitIn(said), askedUnit(question)];
  return !!own && !!wanted && own.dimension === wanted.dimension && !equal(own.factor, wanted.factor);
}

/** The units of the quantities that a question measures. */
const KINDS: readonly (readonly [string, RegExp])[] = [
  ['area', /^length\^2$/],
  ['volume|capacity', /^length\^3$/],
  ['perimeter|circumference|radius|diameter|distance|height|width|hypotenuse', /^length\^1$/],
  ['mass', /^mass\^1$/],
  ['weight', /^(?:mass|force)\^1$/],
  ['speed|velocity', /\^-1/],
  ['angle', /^(?:angle|radian)\^1$/],
  ['cost|price', /^money/],
  ['probability|ratio', /^$/],
  ['temperature', /^(?:celsius|fahrenheit|temperature|angle)\^1$/],
];
const HEAD = String.raw`\b(?:find|what (?:is|was|are)|compute|calculate|determine)\s+(?:the|its|their)\s+(?:(?:total|surface|lateral|average|minimum|maximum|least|largest|smallest|greatest|shortest|final|initial|new)\s+)*`;
const QUANTITIES = KINDS.map(
  ([names, units]) => [new RegExp(String.raw`${HEAD}(?:${names})\b(?!\s+(?:ratio|per|increase))`, 'i'), units] as const,
);
const HOW: readonly (readonly [RegExp, RegExp])[] = [
  [/\bhow (?:far|tall|wide|deep)\b/i, /^length\^1$/],
  [/\bhow fast\b/i, /\^-1/],
  [/\bhow old\b/i, /^(?:time|month|year)\^1$/],
  [/\bhow much (?:does|do|did|will) [^.?]{1,40} weigh\b/i, /^(?:mass|force)\^1$/],
  [
    /\bhow much (?:money\b|(?:does|do|did|will) [^.?]{1,40} (?:cost|pay|earn)\b)|\bwhat does [^.?]{1,40} cost\b/i,
    /^money|^mass\^1$/,
  ],
];

/** 7 cm for an area, 8 kg for "how tall". */
function isOtherKind(dimension: string, question: string): boolean {
  const asked = askedOf(question);
  const kinds = [...QUANTITIES, ...HOW].filter(([form]) => form.test(asked)).map(([, units]) => units);
  return kinds.length === 1 && !kinds.some((units) => units.test(dimension)) && !/\bhow many\b/i.test(asked);
}

/** "How many dozen eggs": of `7 dozen eggs` the 7. */
export function withoutAskedScale(said: string, question: string): string | undefined {
  const [, scale = '', noun = ''] = SCALED.exec(askedOf(question)) ?? [];
  const form =
    /^([^A-Za-z]*?(?:\\[dt]?frac[^A-Za-z]*)?)\s*(?:\\(?:text|mathrm)\s*\{\s*)?([a-z]+?)s?(?:\s+(?:of\s+)?([a-z]+))?\s*\}?[\s.]*$/i;
  const [, value = '', own = '', thing = noun] = form.exec(said.replace(/\s+/g, ' ')) ?? [];
  const isAsked =
    scale !== '' && own.toLowerCase() === scale.toLowerCase() && thing.toLowerCase() === noun.toLowerCase();
  return isAsked && /\d/.test(value) ? value.replace(/\\[ ,;]?\s*$/, '') : undefined;
}
