// `everturn check <run>`: proves a run's records, from its folder and against an export; one line per breach.

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { entriesOfFeed } from '../../client/temporal/feed.ts';
import { describeWorkflow } from '../../client/temporal/runs.ts';
import { areal } from '../../formats/exports/areal.ts';
import { PROVED, SEQUENCES } from '../../formats/exports/index.ts';
import { checkRun } from '../../records/check/check.ts';
import { CLOCK_SKEW_MS } from '../../records/check/times.ts';
import { everturnVersion } from '../../local/machine/package-root.ts';
import type { OnBreach } from '../../records/store.ts';
import { tokenizerOf } from '../find/tokenizer.ts';
import { type Flag, command, flag, number, choiceFlag, text, unusable, withDefault } from '../command.ts';
import { EXIT } from '../exit.ts';
import { OF_PEOPLE, OUT, RUN_ARGUMENT, UNDECIDED_FLAG } from '../flags.ts';
import { plural } from '../format.ts';
import { type Io, print, printJson, say } from '../io.ts';
import { createTools } from '../../environments/tools/index.ts';
import { EXPORT_FLAGS, filterOf, readingOf } from '../find/export-plan.ts';
import { type SeenExport, seenExport } from '../find/export-seen.ts';
import { ifUp } from '../find/link.ts';
import { openReadingThreads } from '../find/reading-threads.ts';
import { findRun, type RunPlace } from '../find/place.ts';
import { countsText } from '../view/summary.ts';

/** They only read and write calls: none is run. */
const CALLS = createTools({});

/** A folder; false for none; undefined: the model's own, if it is on this machine. */
const TOKENIZER: Flag<string | false | undefined> = {
  takes: '<folder>',
  help: "prove texts with this tokenizer (default: the model's own, if it is on this machine)",
  no: 'prove texts without a tokenizer',
};

const { successRate, dropZeroVariance, minMembers } = EXPORT_FLAGS;
const FILTER_FLAGS = { successRate, dropZeroVariance, minMembers };

export const check = command({
  args: RUN_ARGUMENT,
  flags: {
    ...OF_PEOPLE,
    out: OUT,
    export: text('<file>', 'also prove that this export holds what the records give'),
    format: choiceFlag('<name>', PROVED, "the export's format (default: as its lines say)"),
    sequences: choiceFlag('<per>', SEQUENCES, "the export's layout (default: as its lines say)"),
    undecided: UNDECIDED_FLAG,
    ...FILTER_FLAGS,
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
    'With --export, that file holds every complete rollout once; flags that chose rollouts for it are given again.\n' +
    'Otherwise exit code 1 and one line per breach.\n\nExample:\n  everturn check my-run',
  async run(io, given) {
    const { json } = given;
    const place = await findRun(io, given.run, given.out);
    const { out, run, store } = place;
    let breaches = 0;
    const report: OnBreach = (breach) => {
      breaches++;
      if (json) printJson(io, { event: 'breach', ...breach });
      else print(io, `${oneLine(breach.path)}: ${oneLine(breach.problem)}`);
    };
    const file = given.export === undefined ? undefined : exportFile(io, given.export);
    const record = (await store.getRun().catch(() => undefined))?.record;
    const filter = filterOf(given) ?? record?.keep;
    const chosen = { ...readingOf(given), ...(filter && { filter }) };
    const seen =
      file === undefined ? undefined : await seenExport(store, record, file, { ...given, selection: chosen });
    const { tokenizer, hashes, why } = await tokenizerOf(store, io.cwd, given.tokenizer);
    const clockSkewMs = given.clockSkew * 1000;
    // Asked first: the ledger only grows.
    const counted = await countedByFeed(io, place);
    const proofs = { cwd: io.cwd, tokenizer: given.tokenizer, clockSkewMs, exports: file !== undefined };
    const { exporter = areal, layout = 'rollout', selection = {} } = seen ?? {};
    const beginning = { out, run, format: exporter.name, layout, selection, check: proofs };
    const parts = await openReadingThreads(store, beginning);
    const summary = await checkRun(store, report, {
      ...(file !== undefined && { export: { exporter, ...selection, file } }),
      ...{ tokenizer, hashes, everturn: everturnVersion(), clockSkewMs, calls: CALLS, elsewhere: parts },
      isGoing: () => isGoing(io, run),
    }).finally(() => parts?.close());
    const entries = summary.feed?.entries ?? 0;
    if (counted !== undefined && entries < counted) report(shortened(entries, counted));
    const all = countsText(summary);
    const texts = tokenizer ? tokenizer.name : `rules that hold for every tokenizer: ${why}`;
    const notes = [
      ...(seen ? [`The export is of the format ${formatText(seen)}.`] : []),
      `Texts and ids were compared by ${texts}.`,
      ...(entries > 0 || counted !== undefined ? [ledgerLine(entries, counted)] : []),
    ];
    if (!json) for (const note of notes) say(io, note);
    return {
      json: {
        ...{ event: 'summary', folder: store.folder, ...summary },
        ...(counted !== undefined && { feedCounts: counted }),
        ...{ breaches, tokenizer: tokenizer?.name ?? null },
      },
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

/** The entries of the ledger as the run's feed counts them; undefined if none answers. */
async function countedByFeed(io: Io, { run, out, store }: RunPlace): Promise<number | undefined> {
  const record = (await store.getRun().catch(() => undefined))?.record;
  if (!record?.train && (await store.countFeedEntries().catch(() => 0)) === 0) return undefined;
  return ifUp(io, ({ session }) => entriesOfFeed(session, { run, out }, record?.createdAt ?? 0));
}

export function shortened(entries: number, counted: number): Parameters<OnBreach>[0] {
  return { path: 'feed', problem: `has ${plural(entries, 'entry', 'entries')}; the run's feed counts ${counted}` };
}

export function ledgerLine(entries: number, counted: number | undefined): string {
  const said = `The feed's ledger: ${plural(entries, 'entry', 'entries')} checked`;
  if (counted === undefined) return `${said}; no feed answers, so a ledger that was cut at its end is not noticed.`;
  return `${said}; the run's feed counts ${counted}.`;
}

/** Undefined if no server answers. */
const isGoing = (io: Io, run: string): Promise<boolean | undefined> =>
  ifUp(io, async ({ session }) => (await describeWorkflow(session, run, 1)).state === 'running');

/** A missing export is a usage error, not a breach of the run. */
function exportFile(io: Io, named: string): string {
  const file = resolve(io.cwd, named);
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) return file;
  const fix = 'Name a file that `everturn export --to` wrote.';
  throw unusable(`--export: ${JSON.stringify(named)} is not a file.`, fix);
}
