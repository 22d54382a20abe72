// `everturn search <run> <text>`: prints where a text occurs, as it is found. Reads the run's folder alone.

import { type Command, Option } from 'commander';
import { explain, UsageError } from '../../domain/errors/errors.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { patternFinder } from '../../records/pattern.ts';
import { type Hit, SEARCHED, type Searched, searchRun } from '../../records/search.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { mustHoldAll } from '../../records/present.ts';
import { findRun, programName, runArgument, type RunPlace, shellQuoted } from '../find/place.ts';
import { whole } from '../find/rollout.ts';
import { jsonOption, outOption } from '../flags.ts';
import { type Io, print, printJson, say } from '../io.ts';
import { plural } from '../view/format.ts';
import { type Paint, paintFor } from '../view/paint.ts';

interface Flags {
  readonly out: string;
  readonly in?: Searched;
  readonly regex?: boolean;
  readonly case?: boolean;
  readonly limit?: string;
  readonly json?: boolean;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  command
    .argument('<run>', "a run's name, or its folder")
    .argument('<text>', 'the words to look for, as they are; with --regex a pattern')
    .addOption(outOption())
    .addOption(new Option('--in <where>', 'only in these texts').choices(SEARCHED))
    .addOption(new Option('--regex', 'the text is a regular expression of JavaScript; `^` and `$` are those of lines'))
    .addOption(new Option('--case', 'upper and lower case differ'))
    .addOption(new Option('--limit <n>', 'stop after so many hits'))
    .addOption(jsonOption('one hit a line as JSON on stdout'))
    .addHelpText(
      'after',
      '\nExample:\n  everturn search my-run "carry the one" --in answer\n  everturn search my-run --regex "= -?[0-9]+\\\\b" --in extracted',
    )
    .action(async (named: string, text: string, flags: Flags) => exit(await search(io, named, text, flags)));
}

async function search(io: Io, named: string, text: string, flags: Flags): Promise<ExitCode> {
  if (text === '') {
    throw new UsageError('An empty text is in everything.', {
      reason: 'bad-value',
      fix: 'Give the words to look for.',
    });
  }
  const limit = flags.limit === undefined ? Infinity : whole('--limit', flags.limit, 1);
  const place = await findRun(io, named, flags.out);
  await mustHoldAll(place.store);
  // A folder whose run.json is torn or foreign would seem to hold nothing.
  await place.store.getRun();
  const paint = paintFor(io.out, io.env);
  const leave = io.interrupted();
  const broken: string[] = [];
  let [hits, times] = [0, 0];
  const options = {
    ...(flags.in ? { where: [flags.in] } : {}),
    matchCase: flags.case === true,
    signal: leave,
    onBroken: (path: string, error: unknown) => void broken.push(`${path}: ${explain(error)}`),
  };
  const wanted = flags.regex ? patternFinder(text, flags.case === true) : text;
  for await (const hit of searchRun(place.store, wanted, options)) {
    hits++;
    times += hit.count;
    if (flags.json) printJson(io, hit);
    else print(io, hitText(hit, paint));
    if (hits >= limit) break;
  }
  if (leave.aborted) return EXIT.detached;
  if (!flags.json) say(io, summary(io, place, hits, times));
  if (broken.length > 0)
    say(io, `everturn: ${plural(broken.length, 'record')} could not be read, the first ${broken[0]!}`);
  return EXIT.ok;
}

function hitText({ query, sample, turn, where, before, found, after, count }: Hit, paint: Paint): string {
  const place = [oneLine(query), ...(sample === null ? [] : [`sample ${sample}`, `turn ${turn}`]), where].join(' · ');
  const times = count > 1 ? paint('dim', `  (${count} times)`) : '';
  return `${paint('cyan', place)}  ${oneLine(before)}${paint('bold', oneLine(found))}${oneLine(after)}${times}`;
}

function summary(io: Io, place: RunPlace, hits: number, times: number): string {
  if (hits === 0) return 'It occurs nowhere.';
  const show = `${programName(io)} show ${runArgument(io, place)} ${shellQuoted('<query>')} --turn <n>`;
  return `${plural(hits, 'text')}, ${plural(times, 'time')}. \`${show}\` shows one whole.`;
}
