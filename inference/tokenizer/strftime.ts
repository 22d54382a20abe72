// Dates in the formats of Python's `datetime.now().strftime` in the C locale, which chat templates print. d3-time-format knows
// the numbers and names; here is what Python, or the C library under it, adds: compounds of other formats, no time zone (of a
// date without one), and formats that nobody knows, which stay as they are.

import { timeFormat } from 'd3-time-format';

/** Compound formats in those that d3 knows: its own %c, %x and %X follow a locale, and its %L, %q and %Q are none of Python's. */
const COMPOUNDS: Readonly<Record<string, string>> = {
  ...{
    c: '%a %b %e %H:%M:%S %Y',
    x: '%m/%d/%y',
    X: '%H:%M:%S',
    D: '%m/%d/%y',
    F: '%Y-%m-%d',
    T: '%H:%M:%S',
    R: '%H:%M',
  },
  ...{ r: '%I:%M:%S %p', h: '%b', n: '\n', t: '\t', Z: '', z: '', '%': '%%' },
};
const OWN = new Set('aAbBdefgGHIjmMpsSuUVwWyY');
/** The flags of glibc: no padding, blanks, zeros; capitals. */
const DIRECTIVE = /%([-_0^]?)([EO]?)([^])/g;

export function strftime(date: Date, format: string): string {
  return format.replace(DIRECTIVE, (all: string, flag: string, _: string, letter: string) => {
    const text = textOf(date, flag === '^' ? '' : flag, letter);
    return text === undefined ? all : flag === '^' && letter !== 'P' ? text.toUpperCase() : text;
  });
}

/** Undefined for a format that is none. */
function textOf(date: Date, flag: string, letter: string): string | undefined {
  const compound = Object.hasOwn(COMPOUNDS, letter) ? COMPOUNDS[letter] : undefined;
  if (compound !== undefined) return timeFormat(compound)(date);
  if (letter === 'C') return padded(Math.floor(date.getFullYear() / 100), flag);
  if (letter === 'P') return timeFormat('%p')(date).toLowerCase();
  if (letter === 'k' || letter === 'l') return timeFormat(`%${flag || '_'}${letter === 'k' ? 'H' : 'I'}`)(date);
  // d3 counts seconds with a fraction.
  if (letter === 's') return String(Math.floor(date.getTime() / 1000));
  // Python's own, which takes no flag.
  if (letter === 'f' && flag !== '') return undefined;
  return OWN.has(letter) ? timeFormat(`%${flag}${letter}`)(date) : undefined;
}

const padded = (value: number, flag: string): string =>
  flag === '-' ? String(value) : String(value).padStart(2, flag === '_' ? ' ' : '0');
