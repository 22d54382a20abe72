// Dates and times of day, in the ways they are written.

import { undressed } from './words.ts';

interface Time {
  readonly seconds: number;
  /** What the clock shows, whatever half of the day it is. */
  readonly shown: number;
  /** It says am or pm. */
  readonly isMarked: boolean;
  /** The day or the zone that it names. */
  readonly day: string;
}

const WEEKDAY = '(?:mon|tues|wednes|thurs|fri|satur|sun)day';
const DAY = new RegExp(
  String.raw`\b(?:${WEEKDAY}|today|tomorrow|yesterday|(?:the )?(?:next|following|previous|same) (?:day|morning|evening)|[a-z]?[esmpcg][sdm]?t|utc|(?:local|standard|daylight) time)\b`,
  'g',
);
const CLOCK = /^(\d{1,2})(?::(\d{2}))?(?::(\d{2}))? ?(?:([ap])\.?m\.?|in the (morning|afternoon|evening))?$/;

const plainMoment = (text: string): string =>
  undressed(text.replaceAll(',', ' '))
    .toLowerCase()
    .replace(/\s*[:：]\s*/g, ':');

/** A text that names a time of day, in seconds since midnight. */
export function timeOf(text: string): Time | undefined {
  if (!/:|m\b|noon|midnight/i.test(text)) return undefined;
  const said = plainMoment(text);
  const plain = said
    .replace(DAY, ' ')
    .replace(/\b(?:on|at)\b/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^(?:12(?::00)? )?(noon|midnight)$/, (_, name: string) => (name === 'noon' ? '12 pm' : '12 am'));
  const [, hour, minute, second, half, part] = CLOCK.exec(plain) ?? [];
  const isMarked = (half ?? part) !== undefined;
  if (hour === undefined || (minute === undefined && !isMarked)) return undefined;
  const [h, m, s] = [Number(hour), Number(minute ?? 0), Number(second ?? 0)];
  if (m > 59 || s > 59 || h > (isMarked ? 12 : 24) || (isMarked && h < 1)) return undefined;
  const shown = h * 3600 + m * 60 + s;
  const isMorning = half === 'a' || part === 'morning';
  const seconds = isMarked ? (shown % 43_200) + (isMorning ? 0 : 43_200) : shown;
  return { seconds, shown, isMarked, day: (said.match(DAY) ?? []).join(' ') };
}

const MONTHS = 'january february march april may june july august september october november december'.split(' ');

/** Year, month and day of a date that is written out, as far as it names them; `3/4/2020` is two dates and therefore none. */
export function dateOf(text: string): string | undefined {
  if (!/\d{4}[-/]\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec/i.test(text)) return undefined;
  const plain = plainMoment(text)
    .replace(/(\d)(?:st|nd|rd|th)\b/g, '$1')
    .replace(new RegExp(String.raw`\b(?:of|the|[io]n|${WEEKDAY})\b`, 'g'), ' ');
  const iso = /^\s*(\d{4})[-/](\d{1,2})[-/](\d{1,2})\.?\s*$/.exec(plain);
  if (iso) return iso.slice(1).map(Number).join('-');
  const words = plain.match(/[^\s.]+/g) ?? [];
  const month = MONTHS.findIndex((name) => words.some((word) => word.length >= 3 && name.startsWith(word)));
  const year = words.find((word) => /^\d{4}$/.test(word));
  const day = words.find((word) => /^\d{1,2}$/.test(word));
  const named = [year, day].filter((part) => part !== undefined).length;
  if (month < 0 || named === 0 || words.length !== named + 1) return undefined;
  return [Number(year ?? 0), month + 1, Number(day ?? 0)].join('-');
}

const FIGURES = /^(?:\\[dt]?frac|[\s\d.,+*/^(){}$-])+$/;

/** Do both name the same moment? Undefined where that is not the question: `7:32` alone may be a ratio. */
export function sameMoment(gold: string, answer: string): boolean | undefined {
  const time = timeOf(gold);
  const other = time && timeOf(answer);
  // "15:30" is 3:30 pm; a bare solution accepts the same clock with either mark.
  if (time && other)
    return time.day === other.day && (time.seconds === other.seconds || (!time.isMarked && time.shown === other.shown));
  const [date, own] = [dateOf(gold), dateOf(answer)];
  if (date && own) {
    const [weekday, said] = [gold, answer].map((text) => new RegExp(WEEKDAY, 'i').exec(text)?.[0].toLowerCase());
    return date === own && (!weekday || !said || weekday === said);
  }
  // A number or a fraction is no moment.
  return ((time?.isMarked || date) && FIGURES.test(answer)) || (own && FIGURES.test(gold)) ? false : undefined;
}
