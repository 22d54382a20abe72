// `everturn search <run> <text>`: prints where a text occurs, as it is found. Reads the run's folder alone.

import { explain } from '../../domain/errors/errors.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { patternFinder } from '../../records/reading/pattern.ts';
import { mustHoldAll } from '../../records/run/present.ts';
import { type Hit, SEARCHED } from '../../domain/run/hit.ts';
import { searchRun } from '../../records/reading/search.ts';
import { command, flag, oneOf, unusable, whole } from '../command.ts';
import { EXIT } from '../exit.ts';
import { findRun, typed } from '../find/place.ts';
import { OUT, RUN } from '../flags.ts';
import { print, printJson } from '../io.ts';
import { type Paint, paintFor, plural } from '../view/format.ts';

export const search = command({
  args: { ...RUN, '<text>': 'the words to look for, as they are; with --regex a pattern' },
  flags: {
    out: OUT,
    in: oneOf('<where>', SEARCHED, 'only in these texts'),
    regex: flag('the text is a regular expression of JavaScript; `^` and `$` are those of lines'),
    case: flag('upper and lower case differ'),
    limit: whole('<n>', 'stop after so many hits', 1),
    json: flag('one hit a line as JSON on stdout'),
  },
  help:
    'Example:\n  everturn search my-run "carry the one" --in answer\n' +
    '  everturn search my-run --regex "= -?[0-9]+\\\\b" --in extracted',
  async run(io, { run, text, out, in: where, regex, case: matchCase, limit = Infinity, json }) {
    if (text === '') throw unusable('An empty text is in everything.', 'Give the words to look for.');
    const place = await findRun(io, run, out);
    await mustHoldAll(place.store);
    // A folder whose run.json is torn or foreign would seem to hold nothing.
    await place.store.getRun();
    const paint = paintFor(io.out, io.env);
    const signal = io.interrupted();
    const broken: string[] = [];
    let [hits, times] = [0, 0];
    for await (const hit of searchRun(place.store, regex ? patternFinder(text, matchCase) : text, {
      ...(where && { where: [where] }),
      matchCase,
      signal,
      onBroken: (path, error) => void broken.push(`${path}: ${explain(error)}`),
    })) {
      hits++;
      times += hit.count;
      if (json) printJson(io, hit);
      else print(io, hitText(hit, paint));
      if (hits >= limit) break;
    }
    if (signal.aborted) return EXIT.detached;
    const show = `\`${typed(io, place, 'show', "'<query>' --turn <n>")}\``;
    const found = `${plural(hits, 'text')}, ${plural(times, 'time')}. ${show} shows one whole.`;
    const damage = `everturn: ${plural(broken.length, 'record')} could not be read, the first ${broken[0]}`;
    return { about: [hits === 0 ? 'It occurs nowhere.' : found], notes: broken.length > 0 ? [damage] : [] };
  },
});

function hitText({ query, sample, turn, where, before, found, after, count }: Hit, paint: Paint): string {
  const place = [oneLine(query), ...(sample === null ? [] : [`sample ${sample}`, `turn ${turn}`]), where].join(' · ');
  const times = count > 1 ? paint('dim', `  (${count} times)`) : '';
  return `${paint('cyan', place)}  ${oneLine(before)}${paint('bold', oneLine(found))}${oneLine(after)}${times}`;
}
