// `everturn check <run>`: proves a run's records, from its folder and against an export; one line per breach.

import { oneLine } from '../../domain/text/foreign-text.ts';
import { PROVED, SEQUENCES } from '../../formats/exports/index.ts';
import { checkPlace } from '../../library/check.ts';
import type { SeenExport } from '../../library/seen-export.ts';
import { CLOCK_SKEW_MS } from '../../records/check/end.ts';
import type { OnBreach } from '../../records/store.ts';
import { choiceFlag, command, type Flag, flag, number, text, withDefault } from '../command.ts';
import { EXIT } from '../exit.ts';
import { EXPORT_FLAGS } from '../export-flags.ts';
import { aroundOf, findRun } from '../find/place.ts';
import { OF_PEOPLE, OUT, RUN_ARGUMENT, UNDECIDED_FLAG } from '../flags.ts';
import { plural } from '../format.ts';
import { print, printJson, say } from '../io.ts';
import { countsText } from '../view/summary.ts';

/** A folder; false for none; undefined: the model's own, if it is on this machine. */
const TOKENIZER: Flag<string | false | undefined> = {
  takes: '<folder>',
  help: "prove texts with this tokenizer (default: the model's own, if it is on this machine)",
  no: 'prove texts without a tokenizer',
};

const { successRate, dropZeroVariance, minMembers, maxTokenGap } = EXPORT_FLAGS;

export const check = command({
  args: RUN_ARGUMENT,
  flags: {
    ...OF_PEOPLE,
    out: OUT,
    export: text('<file>', 'also prove that this export holds what the records give'),
    format: choiceFlag('<name>', PROVED, "the export's format (default: as its lines say)"),
    sequences: choiceFlag('<per>', SEQUENCES, "the export's layout (default: as its lines say)"),
    undecided: UNDECIDED_FLAG,
    ...{ successRate, dropZeroVariance, minMembers, maxTokenGap },
    tokenizer: TOKENIZER,
    clockSkew: withDefault(
      number('<seconds>', "how far workers' clocks may be apart", Infinity, 'It takes a number of seconds.'),
      CLOCK_SKEW_MS / 1000,
    ),
    json: flag('one breach a line as JSON, then the summary'),
  },
  help:
    'Each (query, sample, turn) exists once, contiguous, judged and logged once; every hash and reward is right; each\n' +
    'turn follows from the one before, its verdict, its settings and its text.\n' +
    'With --export, that file holds every complete rollout once; flags that chose rollouts or tokens for it are given again.\n' +
    'Otherwise exit code 1 and one line per breach.\n\nExample:\n  everturn check my-run',
  async run(io, given) {
    const { json } = given;
    const run = await findRun(io, given.run, given.out);
    const onBreach: OnBreach = (breach) => {
      if (json) printJson(io, { event: 'breach', ...breach });
      else print(io, `${oneLine(breach.path)}: ${oneLine(breach.problem)}`);
    };
    const { result, seen, why } = await checkPlace(run, aroundOf(io), { ...given, onBreach });
    const { breaches, tokenizer, feedCounts, feed, forcedTokens = 0 } = result;
    const entries = feed?.entries ?? 0;
    const all = countsText(result);
    const texts = tokenizer ?? `rules that hold for every tokenizer: ${why}`;
    const notes = [
      ...(seen ? [`The export is of the format ${formatText(seen)}.`] : []),
      `Texts and ids were compared by ${texts}.`,
      ...(forcedTokens > 0
        ? [`Kept sets of ${plural(forcedTokens, 'token')} were compared with the model's own.`]
        : []),
      ...(entries > 0 || feedCounts !== undefined ? [ledgerLine(entries, feedCounts)] : []),
    ];
    if (!json) for (const note of notes) say(io, note);
    return {
      json: { event: 'summary', ...result },
      ...(breaches === 0 && { text: `${all}: all is right.` }),
      ...(breaches > 0 && { about: [`${all}: ${plural(breaches, 'breach', 'breaches')}.`] }),
      code: breaches === 0 ? EXIT.ok : EXIT.breach,
    };
  },
});

/** The format as the flags of `export` say it. */
function formatText({ exporter: { name }, layout, selection: { advantages = 'none' } }: SeenExport): string {
  const flags = layout === 'rollout' ? '' : layout === 'texts' ? ' --texts' : ` --sequences ${layout}`;
  return `${name}${flags}${advantages === 'none' ? '' : ` --advantages ${advantages}`}`;
}

export function ledgerLine(entries: number, counted: number | undefined): string {
  const said = `The feed's ledger: ${plural(entries, 'entry', 'entries')} checked`;
  if (counted === undefined) return `${said}; no feed answers, so a ledger that was cut at its end is not noticed.`;
  return `${said}; the run's feed counts ${counted}.`;
}
