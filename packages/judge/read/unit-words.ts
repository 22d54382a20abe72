// Units as they are written: which words are units, how a phrase of them is collected, and what each is worth: a list of
// base dimensions and an exact factor, where 5 N are 5 kg m/s² and a year has 12 months. Other words are labels: nouns of
// a table, or unknown. A dimension is a sorted text of names and powers.

import { fromDecimal, inv, mul, type Rational, rational } from '../base/rational.ts';
import { type Cursor, isCmd, isSign, peek } from './cursor.ts';
import { isChanging, isFiller, isNoun, isRefusing, SCALES, singular } from './harmless-words.ts';
import { numberWord } from './number-words.ts';
import { FUNCTIONS } from './vocabulary.ts';
import { remembered } from '../base/remembered.ts';

export interface Unit {
  /** `length^2 time^-1` as a sorted text; empty without a unit of known worth. */
  readonly dimension: string;
  readonly factor: Rational;
  /** The things counted, one form each: `apple`, `unit^2`; and the words that no table holds. */
  readonly nouns: ReadonlySet<string>;
  readonly unknown: readonly string[];
}

// base dimensions: name=factor to the base unit, spellings separated by commas.
const TABLE = `
length: m,meter,meters,metre,metres,米=1 cm,centimeter,centimeters,centimetre,centimetres,厘米=0.01 mm,millimeter,millimeters,millimetre,millimetres,毫米=0.001 km,kilometer,kilometers,kilometre,kilometres,千米,公里=1000 dm,decimeter,decimeters,分米=0.1 in,inch,inches=0.0254 ft,foot,feet=0.3048 yd,yard,yards=0.9144 mi,mile,miles=1609.344 nm,nanometer,nanometers=0.000000001 um,micrometer,micrometers=0.000001 dam=10
length^2: 平方厘米=0.0001 平方分米=0.01 平方米=1 平方千米,平方公里=1000000 acre,acres=4046.8564224 hectare,hectares,ha=10000
time: s,sec,secs,second,seconds,秒=1 min,mins,minute,minutes,分钟=60 h,hr,hrs,hour,hours,小时,時間=3600 day,days,天,日=86400 week,weeks=604800 ms,millisecond,milliseconds=0.001 ns=0.000000001 fortnight,fortnights=1209600
month: year,years,yr,yrs=12 decade,decades=120 century,centuries=1200
month: month,months=1
mass: kg,kilo,kilos,kilogram,kilograms,千克,公斤=1 g,gram,grams,克=0.001 mg,milligram,milligrams=0.000001 t,ton,tons,tonne,tonnes,吨=1000 ug=0.000000001 lb,lbs,pound,pounds=0.45359237 oz,ounce,ounces=0.028349523125
length^3: 立方厘米=0.000001 立方分米=0.001 立方米=1 l,L,liter,liters,litre,litres,升=0.001 ml,mL,milliliter,milliliters,millilitre,millilitres,毫升=0.000001 dL=0.0001 cL=0.00001 kL=1 gallon,gallons,gal=0.003785411784 quart,quarts=0.000946352946 pint,pints=0.000473176473 cc=0.000001
angle: deg,degree,degrees,度=1
radian: rad,radian,radians=1
celsius: degreeC,celsius=1
fahrenheit: degreeF,fahrenheit=1
current time: C,coulomb,coulombs=1 mC=0.001 uC=0.000001 nC=0.000000001
money-usd: $,usd,USD,dollar,dollars=1 cent,cents=0.01 penny,pennies=0.01
money-eur: €,eur,EUR,euro,euros=1
money-gbp: £,gbp,GBP=1
money-jpy: ¥,yen,円,jpy,JPY=1
money-cny: yuan,元,rmb,RMB,CNY=1
money-inr: ₹,rupee,rupees,Rs=1
mass length time^-2: N,newton,newtons=1 kN=1000 MN=1000000 mN=0.001
mass length^2 time^-2: J,joule,joules=1 kJ=1000 MJ=1000000 mJ=0.001 kWh=3600000 cal,calorie,calories=4.184 kcal=4184 eV=0.0000000000000000001602176634 meV=0.0000000000000000000001602176634 keV=0.0000000000000001602176634 MeV=0.0000000000001602176634 GeV=0.0000000001602176634
mass length^2 time^-3: W,watt,watts=1 mW=0.001 kW=1000 MW=1000000 GW=1000000000 hp=745.7
mass length^-1 time^-2: Pa,pascal,pascals=1 hPa=100 kPa=1000 MPa=1000000 GPa=1000000000 bar,bars=100000 mbar=100 atm=101325
mass length^2 time^-3 current^-1: V,volt,volts=1 mV=0.001 kV=1000 MV=1000000
current: A,amp,amps,ampere,amperes=1 mA=0.001 uA=0.000001 kA=1000
mass length^2 time^-3 current^-2: ohm,ohms,Ω=1 kΩ,kohm=1000 MΩ=1000000
capacitance: farad,farads=1 mF=0.001 uF,μF=0.000001 nF=0.000000001 pF=0.000000000001
field: tesla=1 mT=0.001
inductance: henry=1 mH=0.001
data: bit,bits=1 byte,bytes=8 kB,KB=8000 MB=8000000 GB=8000000000 TB=8000000000000
time^-1: Hz,hertz=1 THz=1000000000000 kHz=1000 MHz=1000000 GHz=1000000000
amount: mol,mole,moles=1 mmol=0.001 kmol=1000
molarity: molar=1 mM=0.001
temperature: K,kelvin=1
length time^-1: knot,knots=0.51444444444444444444 mph=0.44704
`;

type Powers = readonly (readonly [name: string, power: number])[];

const powersIn = (dimension: string): Powers =>
  dimension.split(' ').map((one) => [one.split('^')[0] ?? '', Number(one.split('^')[1] ?? 1)]);

const UNITS = new Map<string, { powers: Powers; factor: Rational }>();
for (const line of TABLE.trim().split('\n')) {
  const [dimension = '', rest = ''] = line.split(': ');
  const powers = powersIn(dimension);
  for (const entry of rest.split(' ')) {
    const [names = '', factor = '1'] = entry.split('=');
    for (const name of names.split(',')) UNITS.set(name, { powers, factor: fromDecimal(factor) ?? rational(1n) });
  }
}
for (const name of ['kmh', 'kph']) UNITS.set(name, { powers: powersIn('length time^-1'), factor: rational(5n, 18n) });

export const isUnit = (word: string): boolean => UNITS.has(word);

/** A plain word of two letters or more that is always a unit. Single letters need `\text{}`. */
export function isUnitWord(word: string): boolean {
  return word.length > 1 && UNITS.has(word) && word !== 'in';
}

/**
 * Takes every word of a unit: `cm^2`, `miles per hour`, `m/s^2`. `whole`: only where each of them is a unit, and nothing else stands up to the
 * end of the item: `m`, `\\frac{m}{s}`.
 */
export function unitPhrase(c: Cursor, whole = false): string | undefined {
  let [text, length, depth] = ['', 0, 0];
  for (; ; length++) {
    const token = peek(c, length);
    if (!token || isSign(token, ',', ';', ')', '.') || (token.t === 'word' && /^(?:and|or)$/i.test(token.v))) break;
    if (isSign(token, '{') && (whole || text.endsWith('^'))) {
      depth++;
      if (isSign(peek(c, length - 1), '}')) text += ' /';
    } else if (isSign(token, '}') && depth > 0) depth--;
    else if (isSign(token, '^')) text += ' ^';
    else if ((text.endsWith('^') && isSign(token, '-')) || (/\^-?$/.test(text) && token.t === 'num')) text += token.v;
    else if ((isSign(token, '/', '*') || isCmd(token, 'cdot')) && (whole || wordLike(c, length + 1)))
      text += token.v === '/' ? ' /' : ' *';
    else if (wordLike(c, length) && (!whole || UNITS.has(token.v))) text += ` ${token.v}`;
    // `1 h 30 min`
    else if (!whole || (text !== '' && token.t === 'num' && UNITS.has(peek(c, length + 1)?.v ?? ''))) break;
    else if (length > 0 || !isCmd(token, 'frac', 'dfrac', 'tfrac')) return undefined;
  }
  if (text === '') return undefined;
  c.at += length;
  return text.trim();
}

function wordLike(c: Cursor, ahead: number): boolean {
  const token = peek(c, ahead);
  return token !== undefined && (token.t === 'text' || token.t === 'word' || token.t === 'id');
}

/** Behind these letters a unit is another one in capitals: mg and Mg, pm and Pm. */
const PREFIXED = /^(?:m|n|p)(?:m|g|l|s|mol|a|v|w|j|n|hz|t|h|f|c|bar|ev|pa)$/;

const isTime = (word = ''): boolean => /^(?:time|month)\^1$/.test(unitOf(word).dimension);

/** The factor and dimension of a phrase behind a number, and the things it counts. Every word of it is accounted for. */
export const unitOf = remembered((phrase: string): Unit => {
  // A sign that is no part of a unit is a word that nobody knows.
  const tokens =
    phrase
      .replace(/²/g, '^2')
      .replace(/³/g, '^3')
      .replace(/\b(?:square|sq)\.?\s+(\p{L}+)|(\p{L}+)\s+squared\b/giu, '$1$2^2')
      .replace(/\b(?:cubic|cu)\.?\s+(\p{L}+)|(\p{L}+)\s+cubed\b/giu, '$1$2^3')
      .match(/[\p{L}][\p{L}'’]*|[$€£¥₹]|\^\s*-?\d|[/*]|[^\s.,()-]/gu) ?? [];
  const powers = new Map<string, number>();
  const nouns = new Set<string>();
  const unknown: string[] = [];
  let factor = rational(1n);
  let sign = 1;
  for (const [k, token] of tokens.entries()) {
    const [after, lower] = [tokens[k + 1], token.toLowerCase()];
    const power = after?.startsWith('^') ? Number(after.slice(1)) : 1;
    if (
      token === '/' ||
      lower === 'per' ||
      (/^(?:an?|each|every)$/.test(lower) && tokens[k - 1] !== 'of' && isTime(after))
    )
      sign = -1;
    else if (token === '*' || token.startsWith('^')) continue;
    else if (isChanging(lower) && after === undefined) unknown.push(lower);
    else {
      // Twelve ways in total are no inches.
      const inches = lower !== 'in' || (k === 0 && !/^\p{L}/u.test(after ?? ''));
      const unit = inches ? (UNITS.get(token) ?? (PREFIXED.test(lower) ? undefined : UNITS.get(lower))) : undefined;
      if (unit) {
        for (let n = 0; n < Math.abs(power); n++)
          factor = mul(factor, sign * power > 0 ? unit.factor : inv(unit.factor));
        for (const [name, times] of unit.powers) powers.set(name, (powers.get(name) ?? 0) + sign * power * times);
      } else if (!isFiller(lower)) {
        const name = PREFIXED.test(lower) ? token : singular(lower);
        nouns.add(power === 1 ? name : `${name}^${power}`);
        if (!isNoun(lower)) unknown.push(name);
      }
    }
  }
  const dimension = [...powers]
    .filter(([, n]) => n !== 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, n]) => `${name}^${n}`)
    .join(' ');
  return { dimension, factor, nouns, unknown };
});

/** Are all words of this known: units, nouns of the table, words that change nothing? */
export const isHarmlessPhrase = (phrase: string, question = ''): boolean =>
  unitOf(phrase).unknown.every((word) => isAsked(word, question));

/** The question counts the thing: "How many cups of feed …", "24 zebras". A word that bounds, denies or multiplies is no thing. */
function isAsked(word: string, question: string): boolean {
  if (question === '' || !/^\p{Ll}{3,20}$/u.test(word) || isRefusing(word) || isChanging(word) || SCALES.has(word))
    return false;
  if (numberWord(word) !== undefined || FUNCTIONS.has(word) || /^(?:square|cub)/.test(word)) return false;
  return new RegExp(
    `(?:how (?:many|much)|number of|\\d[\\d.,]*)(?:\\s+(?:\\d+-)?[\\p{L}'’-]+){0,4}(?:\\s+|d['’])${word}(?:s|es)?(?!\\p{L})`,
    'iu',
  ).test(question);
}

/**
 * May the answer's words stand for the solution's? Its units are the same kind, what it counts is the same thing, and
 * no word of it is unknown, unless the solution holds it as well. Either side may leave all of it out.
 */
export function sameLabels(gold: string, answer: string, question: string): boolean {
  const [g, a] = [unitOf(gold), unitOf(answer)];
  if (a.unknown.some((word) => !g.nouns.has(word) && !isAsked(word, question))) return false;
  if (g.dimension !== '' && a.dimension !== '' && g.dimension !== a.dimension) return false;
  const [few, many] = g.nouns.size < a.nouns.size ? [g, a] : [a, g];
  if (few.nouns.size > 0 || few.dimension === '' || many.dimension !== '')
    return [...few.nouns].every((noun) => many.nouns.has(noun));
  // One names a unit, the other counts things: of these only "5 units" may be 5 cm.
  const power = /^length\^([23])$/.exec(few.dimension)?.[1];
  return many.nouns.size === 1 && many.nouns.has(power ? `unit^${power}` : 'unit');
}
