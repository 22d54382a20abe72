// Dates and times of day, in the ways they are written.

import { WRAPPER } from './words.ts';

export interface Time {
  readonly clock: string;
  readonly seconds: number;
  /** It says am or pm. */
  readonly marked: boolean;
  /** The day or the zone that it names. */
  readonly day: string;
}

const DAY =
  /\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tomorrow|yesterday|(?:the )?(?:next|following|previous|same) (?:day|morning|evening)|[a-z]?[esmpcg][sdm]?t|utc|(?:local|standard|daylight) time)\b/g;

/** Seconds since midnight of a text that names a time of day. */
export function timeOf(text: string): Time | undefined {
  if (!/:|m\b|noon|midnight/i.test(text)) return undefined;
  const said = plainTime(text);
  const day = (said.match(DAY) ?? []).join(' ').replace(/\bthe /g, '');
  const plain = said
    .replace(DAY, ' ')
    .replace(/\b(?:on|at|,)(?= *$)|^ *(?:on|at)\b|,/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/\bin the morning$/, 'am')
    .replace(/\bin the (?:afternoon|evening)$/, 'pm')
    .replace(
      /^(\d{1,2})(.*) at night$/,
      (_, hour: string, rest: string) => `${hour}${rest} ${Number(hour) < 6 || Number(hour) === 12 ? 'am' : 'pm'}`,
    )
    .replace(/^(?:12(?::00)? )?noon$/, '12:00 pm')
    .replace(/^(?:12(?::00)? )?midnight$/, '12:00 am')
    .replace(/^(\d{1,2})(?= ?[ap]\.?m)/, '$1:00')
    .replace(/ ?([ap])\.?m\.? \1\.?m\.?$/, ' $1m');
  const m = /^(\d{1,2}):(\d{2})(?::(\d{2}))? ?(?:([ap])\.?m\.?)?$/.exec(plain);
  if (!m) return undefined;
  let hours = Number(m[1]);
  const [minutes, seconds] = [Number(m[2]), Number(m[3] ?? 0)];
  if (hours > 24 || minutes > 59 || seconds > 59) return undefined;
  const clock = `${hours}:${minutes}:${seconds}`;
  if (m[4]) {
    if (hours < 1 || hours > 12) return undefined;
    hours = (hours % 12) + (m[4] === 'p' ? 12 : 0);
  }
  return { clock, seconds: hours * 3600 + minutes * 60 + seconds, marked: m[4] !== undefined, day };
}

const plainTime = (text: string): string =>
  text
    .replace(WRAPPER, ' ')
    .replace(/\\[,;:! ]|[{}$~]/g, ' ')
    .toLowerCase()
    .replace(/\s*[:：]\s*/g, ':')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^at /, '');

/** The day of the week that a date names. */
export const weekdayOf = (text: string): string | undefined =>
  /\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b/i.exec(text)?.[0].toLowerCase();

const MONTHS = 'january february march april may june july august september october november december'.split(' ');

/** Year, month and day of a date that is written out, or year and month; `3/4/2020` is two dates and therefore none. */
export function dateOf(text: string): string | undefined {
  if (!/\d{4}[-/]\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec/i.test(text)) return undefined;
  const plain = text
    .replace(WRAPPER, ' ')
    .replace(/\\[,;:! ]|[{}$~,]/g, ' ')
    .toLowerCase()
    .replace(/(\d)(st|nd|rd|th)\b/g, '$1')
    .replace(/\bof\b/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/\.$/, '')
    .replace(/^(?:[io]n )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day )?(?:the )?/, '');
  const iso = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})$/.exec(plain);
  if (iso) return `${Number(iso[1])}-${Number(iso[2])}-${Number(iso[3])}`;
  const month = (word: string | undefined): number =>
    MONTHS.findIndex((m) => word !== undefined && word.length >= 3 && m.startsWith(word.replace(/\.$/, '')));
  const a = /^([a-z]+\.?) (\d{1,2})(?: (\d{4}))?$/.exec(plain);
  if (a && month(a[1]) >= 0) return `${a[3] ? Number(a[3]) : ''}-${month(a[1]) + 1}-${Number(a[2])}`;
  const b = /^(\d{1,2}) ([a-z]+\.?)(?: (\d{4}))?$/.exec(plain);
  if (b && month(b[2]) >= 0) return `${b[3] ? Number(b[3]) : ''}-${month(b[2]) + 1}-${Number(b[1])}`;
  const c = /^([a-z]+\.?) (\d{4})$/.exec(plain);
  if (c && month(c[1]) >= 0) return `${Number(c[2])}-${month(c[1]) + 1}`;
  return undefined;
}
