// The rules of IFBench for marks, lines and lists, and those for one question of its own each (`custom:`).

import type { OF_IFBENCH, RulesOf } from '../../domain/query/instruction.ts';
import { csvRows } from './csv.ts';
import { bare, characters, isEmoji, lengthOf, plainText, unpunctuated } from './ifbench-words.ts';
import { BLANK, isBlank, splitAtBlanks, strip } from './python-text.ts';
import { sentencesOf } from './sentences.ts';

const IS_BLANK = new RegExp(`[${BLANK}]`);

type OfIfbench = RulesOf<typeof OF_IFBENCH>;
type Named<Kind extends string> = Extract<keyof OfIfbench, `${Kind}:${string}`>;

export const FORMATS: Pick<OfIfbench, Exclude<Named<'format'>, 'format:title_case'>> = {
  'format:emoji': (text) => {
    const bodies = sentencesOf(text).map((sentence) => characters(strip(unpunctuated(sentence))));
    return bodies.every(
      (body, i) => body.length > 0 && (body.slice(-2).some(isEmoji) || isEmoji(bodies[i + 1]?.[0] ?? '')),
    );
  },
  'format:line_indent': (text) => {
    const indents = unblanked(text.split('\n')).map((line) => line.length - strip(line, ' ', 'start').length);
    return indents.every((indent, i) => i === 0 || indent > indents[i - 1]!);
  },
  'format:list': (text, { sep }) => text.split(sep).length > 2,
  'format:newline': (text) => {
    const plain = strip(unpunctuated(text));
    return plain.split('\n').filter((line) => line !== '').length === splitAtBlanks(plain).length;
  },
  'format:no_bullets_bullets': (text) => {
    let [sentences, bullets, goOn] = [0, 0, true];
    for (const line of text.split('\n').map((one) => strip(one))) {
      if (line.startsWith('*')) {
        if (sentences < 2) return false;
        bullets++;
        goOn = false;
      } else if (goOn) {
        const found = sentencesOf(line).length;
        sentences += found;
        // A blank line ends them.
        goOn = found > 0;
      } else return false;
    }
    return bullets >= 2;
  },
  'format:no_whitespace': (text) => !IS_BLANK.test(text),
  'format:options': (text, { options }) => {
    const separator = options.includes('/') ? '/' : options.includes('or') ? 'or' : ',';
    const all = options.split(separator).map((option) => strip(option));
    if (/^[^\p{L}\p{N}_]*a[^\p{L}\p{N}_]*b[^\p{L}\p{N}_]*c/iu.test(options)) return all.includes(text);
    return all.some((option) => bare(option).toLowerCase() === bare(text).toLowerCase());
  },
  'format:output_template': (text) =>
    ['My Answer:', 'My Conclusion:', 'Future Outlook:'].every((part) => text.includes(part)),
  'format:parentheses': (text) => {
    const open: string[] = [];
    let deepest = 0;
    for (const char of text) {
      const at = '([{)]}'.indexOf(char);
      if (at >= 3 && open.length > 0 && open.at(-1) === '([{'[at - 3]) {
        open.pop();
        if (deepest >= 5) return true;
      } else if (at >= 3) [open.length, deepest] = [0, 0];
      else if (at >= 0) deepest = Math.max(deepest, open.push(char));
    }
    return false;
  },
  'format:quote_unquote': (text) => {
    const dense = splitAtBlanks(text.replaceAll(`'"'`, '')).join('');
    return !dense.includes('""') && !/"[\d!#-/:-@[-`{-~]*$/.test(dense.slice(dense.lastIndexOf('"')));
  },
  'format:quotes': (text) => {
    const open: string[] = [];
    let deepest = 0;
    for (const char of text) {
      if (char !== '"' && char !== "'") continue;
      if (open.at(-1) !== char) deepest = Math.max(deepest, open.push(char));
      else {
        open.pop();
        if (deepest - open.length >= 3) return true;
      }
    }
    return false;
  },
  'format:sub-bullets': (text) =>
    text
      .split('*')
      .slice(1)
      .every((bullet) => bullet.includes('-')),
  'format:thesis': (text) => {
    const begin = placeOf(text, '<i>', '<em>');
    const thesis = begin < 0 ? '' : text.slice(begin);
    const end = placeOf(thesis, '</i>', '</em>');
    return end >= 0 && !isBlank(thesis.slice(3, end)) && !isBlank(thesis.slice(end + 4));
  },
};

const placeOf = (text: string, one: string, other: string): number => {
  const at = text.indexOf(one);
  return at < 0 ? text.indexOf(other) : at;
};

/** The checker drops blank lines from the list in which it goes on, so that the line behind a dropped one is not looked at. */
function unblanked(lines: readonly string[]): string[] {
  const places = new Map<string, number[]>();
  lines.forEach((line, i) => {
    const equal = places.get(line) ?? [];
    if (isBlank(line)) places.set(line, equal);
    equal.push(i);
  });
  const gone = new Map<string, number>();
  const dropped = new Set<number>();
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    if (!isBlank(line)) continue;
    // Of equal lines the first that is left goes.
    const before = gone.get(line) ?? 0;
    dropped.add(places.get(line)![before]!);
    gone.set(line, before + 1);
    i++;
  }
  return lines.filter((_, i) => !dropped.has(i));
}

const CAPITALS = `Reykjavik,Helsinki,Oslo,Tallinn,Stockholm,Riga,Moscow,Copenhagen,Vilnius,Minsk,Dublin,Berlin,Amsterdam,Warsaw,London,Brussels,Prague,Luxembourg,Paris,Vienna,Bratislava,Budapest,Vaduz,Chisinau,Bern,Ljubljana,Zagreb`;

const head = (names: readonly string[], between: string): RegExp =>
  new RegExp(`^${names.map((name) => `(?:${name}|"${name}")`).join(between)}$`);
const PRODUCTS = head(['ProductID', 'Category', 'Brand', 'Price', 'Stock'], ',[ \\t]*');
const STUDENTS = head(['StudentID', 'Subject', 'Grade', 'Semester', 'Score'], '\\t *');
const headOf = (text: string): string => strip(text.split('\n', 1)[0]!);
/** With its quotes in the fields. */
const quotedRows = (text: string, delimiter: ',' | '\t') => csvRows(text.replaceAll('"', '"""'), delimiter) ?? [];

export const CUSTOM: Pick<OfIfbench, Named<'custom'>> = {
  'custom:character_reverse': (text) => text.toLowerCase().includes('elgae dlab'),
  'custom:csv_city': (text) => {
    const rows = csvRows(text, ',') ?? [];
    return (
      rows.length === 8 &&
      rows[0]!.join('\n') === 'ID\nCountry\nCity\nYear\nCount' &&
      rows.every((row) => row.length === 5)
    );
  },
  'custom:csv_quotes': (text) => {
    const rows = STUDENTS.test(headOf(text)) ? quotedRows(text, '\t') : [];
    return (
      rows.length === 4 &&
      rows.every((row) => row.length === 5 && row.every((field) => /^".*"$|^"$/s.test(strip(field))))
    );
  },
  'custom:csv_special_character': (text) => {
    const rows = PRODUCTS.test(headOf(text)) ? quotedRows(text, ',') : [];
    const isSpecial = (row: readonly string[]) => row.some(hasSpecial);
    const until = rows.findIndex((row, i) => i > 0 && (row.length !== 5 || isSpecial(row)));
    return rows.length === 15 && rows[until]?.length === 5;
  },
  'custom:date_format_list': (text) => text.split(',').every((date) => isDay(strip(date))),
  'custom:european_capitals_sort': (text) =>
    plainText(text)
      .split(',')
      .map((name) => strip(name))
      .filter((name) => name !== '')
      .join(',') === CAPITALS,
  'custom:mcq_count_length': (text) => {
    const questions = text.split(/Question \p{Nd}+[.|):;]?/u).filter((part) => !isBlank(part));
    const lengths = questions.map(lengthOfQuestion);
    return (
      text.startsWith('Question') &&
      lengths.length === 4 &&
      lengths.every((length, i) => length !== undefined && (i === 0 || length > lengths[i - 1]!))
    );
  },
  'custom:multiples': (text) => (text.replaceAll(',', ', ').match(/\p{Nd}+/gu) ?? []).join(' ') === '14 21 28 35 42 49',
  'custom:reverse_newline': (text) => {
    const lines = text
      .split('\n')
      .map((line) => bare(line))
      .filter((line) => line !== '');
    const begin = lines.findIndex((line) => line.includes('Zimbabwe'));
    const listed = begin < 0 ? [] : lines.slice(begin).map(plainText);
    return listed.length >= 52 && listed.every((line, i) => i === 0 || line <= listed[i - 1]!);
  },
  'custom:sentence_alphabet': (text) => {
    const sentences = sentencesOf(text);
    const begins = sentences.map((sentence) => strip(sentence).toLowerCase().charCodeAt(0));
    return begins.length === 26 && begins.every((begin, i) => begin === 97 + i);
  },
  'custom:word_reverse': (text) =>
    splitAtBlanks(unpunctuated(text.toLowerCase())).toReversed().join(' ').includes('bald eagle'),
};

/** On its first line: a quote, a mark behind it, and another quote behind that. */
function hasSpecial(field: string): boolean {
  const [line] = field.split('\n', 1) as [string];
  const last = line.lastIndexOf('"');
  return line.startsWith('"') && new RegExp(`[^\\p{L}\\p{N}_${BLANK}]`, 'u').test(line.slice(1, Math.max(1, last)));
}

function isDay(text: string): boolean {
  const [, year, month, day] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []).map(Number);
  if (year === undefined || year < 1769 || year > 1821 || month! > 12) return false;
  const most = month === 2 ? 29 : [4, 6, 9, 11].includes(month!) ? 30 : month === 0 ? 99 : 31;
  return day! <= most;
}

/** Undefined without five options. */
function lengthOfQuestion(question: string): number | undefined {
  const lines = strip(question)
    .split('\n')
    .map((line) => strip(line));
  const isOption = (line: string) => new RegExp(`^[A-Ea-e][.|)][${BLANK}]*[\\p{L}\\p{N}_]`, 'u').test(line);
  const options = lines.filter(isOption).length;
  return options === 5 ? lengthOf(strip(lines.slice(0, lines.findIndex(isOption)).join(' '))) : undefined;
}
