// `everturn check <run>`: proves a run's records, from its folder, from the histories that Temporal still has,
// and against an export; one line per breach.

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { isServerFailure } from '../../client/temporal/connection.ts';
import { entriesOfFeed } from '../../client/temporal/feed.ts';
import { describeWorkflow } from '../../client/temporal/runs.ts';
import { TemporalError, UsageError } from '../../domain/errors/errors.ts';
import type { UndecidedPolicy } from '../../domain/rollout/finished-turns.ts';
import type { ContradictedPolicy, VerdictSource } from '../../domain/rollout/judged-by-people.ts';
import { exporterNamed, PROVED, SEQUENCES, type Sequences, sequencesFor } from '../../formats/exports/index.ts';
import { collectionHistory, rolloutHistories } from '../../client/temporal/histories.ts';
import { checkHistories, type HistoriesSummary } from '../../records/check/histories.ts';
import { CLOCK_SKEW_MS } from '../../records/check/times.ts';
import { everturnVersion } from '../../local/machine/package-root.ts';
import type { HumanTurnsPolicy } from '../../records/reading.ts';
import type { OnBreach } from '../../records/store.ts';
import { tokenizerOf } from '../find/tokenizer.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { jsonOption, outOption, peopleOptions, undecidedOption } from '../flags.ts';
import { plural } from '../view/format.ts';
import { type Io, print, printJson, say } from '../io.ts';
import { createTools } from '../../environments/tools/index.ts';
import { readingOf } from '../find/export-plan.ts';
import { openLinkIfUp } from '../find/link.ts';
import { openParts } from '../find/parts.ts';
import { findRun, type RunPlace } from '../find/place.ts';
import { countsText, provedRun } from '../find/proved.ts';

/** They only read and write calls: none is run. */
const CALLS = createTools({});

interface Flags {
  readonly out: string;
  readonly json?: boolean;
  readonly export?: string;
  readonly format: string;
  readonly sequences?: Sequences;
  readonly undecided: UndecidedPolicy;
  readonly verdicts?: VerdictSource;
  readonly contradicted?: ContradictedPolicy;
  readonly humanTurns?: HumanTurnsPolicy;
  /** A folder; true: the model's own, if it is on this machine. */
  readonly tokenizer?: string | boolean;
  readonly clockSkew: number;
  /** Undefined: if a server answers. */
  readonly histories?: boolean;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  for (const option of peopleOptions()) command.addOption(option);
  command
    .argument('<run>', "a run's name, or its folder")
    .addOption(outOption())
    .addOption(new Option('--export <file>', 'also prove that this export holds what the records give'))
    .addOption(new Option('--format <name>', 'the format of exports').default(PROVED[0]))
    .addOption(new Option('--sequences <per>', 'as of export (default: what it takes)').choices(SEQUENCES))
    .addOption(undecidedOption())
    .addOption(new Option('--histories', "compare with Temporal's histories (default: if a server answers)"))
    .addOption(new Option('--no-histories', 'do not compare with histories'))
    .addOption(
      new Option(
        '--tokenizer <folder>',
        "prove texts with this tokenizer (default: the model's own, if it is on this machine)",
      ),
    )
    .addOption(new Option('--no-tokenizer', 'prove texts without a tokenizer'))
    .addOption(
      new Option('--clock-skew <seconds>', "how far workers' clocks may be apart")
        .argParser(secondsOf)
        .default(CLOCK_SKEW_MS / 1000),
    )
    .addOption(jsonOption('one breach a line as JSON, then the summary'))
    .addHelpText(
      'after',
      '\nEach (query, sample, turn) exists once, contiguous, judged and logged once; every hash and reward is right; each\n' +
        'turn follows from the one before, its verdict, its settings and its text; an export holds every complete rollout\n' +
        "once; and Temporal's histories, if the server still has them, agree.\n" +
        'Otherwise exit code 1 and one line per breach.\n\nExample:\n  everturn check my-run',
    )
    .action(async (named: string, flags: Flags) => exit(await check(io, named, flags)));
}

async function check(io: Io, named: string, flags: Flags): Promise<ExitCode> {
  const place = await findRun(io, named, flags.out);
  let found = 0;
  const report: OnBreach = (breach) => {
    found++;
    if (flags.json) printJson(io, { event: 'breach', ...breach });
    else print(io, `${oneLine(breach.path)}: ${oneLine(breach.problem)}`);
  };
  const file = flags.export === undefined ? {} : { file: exportFile(io, flags.export) };
  if (!PROVED.includes(flags.format)) {
    throw new UsageError(`No proof is known for exports of the format ${JSON.stringify(flags.format)}.`, {
      reason: 'unknown-format',
      fix: `Choose one of: ${PROVED.join(', ')}.`,
    });
  }
  const run = (await place.store.getRun().catch(() => undefined))?.record;
  const sequences = provedSequences(flags, sequencesFor(run));
  const exporter = exporterNamed(flags.format, sequences);
  const wanted = typeof flags.tokenizer === 'string' || flags.tokenizer === false ? flags.tokenizer : undefined;
  const { tokenizer, model, why } = await tokenizerOf(place.store, io.cwd, wanted);
  const options = {
    export: { exporter, ...readingOf(flags), ...file },
    ...{ tokenizer, model, everturn: everturnVersion(), clockSkewMs: flags.clockSkew * 1000, calls: CALLS },
    ...(flags.histories === false ? {} : { isGoing: () => isGoing(io, place.run) }),
  };
  // Asked first: the ledger only grows.
  const counted = flags.histories === false ? undefined : await countedByFeed(io, place);
  const { out, run: name, store } = place;
  const selection = readingOf(flags);
  const proofs = {
    cwd: io.cwd,
    tokenizer: wanted,
    clockSkewMs: options.clockSkewMs,
    file: 'file' in file ? file.file : undefined,
  };
  const parts = await openParts(store, { out, run: name, format: flags.format, sequences, selection, check: proofs });
  const summary = await provedRun(place, report, { ...options, elsewhere: parts }).finally(() => parts?.close());
  const entries = summary.feed?.entries ?? 0;
  if (counted !== undefined && entries < counted) report(shortened(entries, counted));
  const histories = flags.histories === false ? 'disabled by --no-histories' : await compared(io, place, report, flags);
  const breaches = found;
  if (flags.json)
    printJson(io, {
      event: 'summary',
      folder: place.store.folder,
      ...summary,
      ...(counted === undefined ? {} : { feedCounts: counted }),
      breaches,
      histories,
      tokenizer: tokenizer?.name ?? null,
    });
  else {
    const all = countsText(summary);
    say(
      io,
      `Texts and ids were compared by ${tokenizer ? tokenizer.name : `rules that hold for every tokenizer: ${why}`}.`,
    );
    say(io, historiesLine(histories));
    if (entries > 0 || counted !== undefined) say(io, ledgerLine(entries, counted));
    for (const { server, before, now, at } of summary.falls ?? [])
      say(
        io,
        oneLine(
          `${server} went back from the weights ${before} to ${now}: turns begun at ${new Date(at).toISOString()} have those.`,
        ),
      );
    if (breaches === 0) print(io, `${all}: all is right.`);
    else say(io, `${all}: ${plural(breaches, 'breach', 'breaches')}.`);
  }
  return breaches === 0 ? EXIT.ok : EXIT.breach;
}

/** A file with one sample a query has no proof; without a file, the samples of single rollouts are proved. */
function provedSequences({ sequences, export: file, format }: Flags, usual: Sequences): Sequences {
  const wanted = sequences ?? usual;
  if (wanted !== 'query' || format !== 'areal') return wanted;
  if (file === undefined && sequences === undefined) return 'rollout';
  throw new UsageError('No proof is known for exports with one sample a query.', {
    reason: 'unknown-format',
    fix: 'Export with --sequences rollout to prove the samples, or check without --export.',
  });
}

/** The entries of the ledger as the run's feed counts them; undefined if none answers. */
async function countedByFeed(io: Io, { run, out, store }: RunPlace): Promise<number | undefined> {
  const record = (await store.getRun().catch(() => undefined))?.record;
  if (!record?.train && (await store.countFeedEntries().catch(() => 0)) === 0) return undefined;
  const link = await openLinkIfUp(io).catch(() => undefined);
  if (!link) return undefined;
  try {
    return await entriesOfFeed(link.session, { run, out }, record?.createdAt ?? 0);
  } finally {
    await link.close();
  }
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
async function isGoing(io: Io, run: string): Promise<boolean | undefined> {
  const link = await openLinkIfUp(io).catch(() => undefined);
  if (!link) return undefined;
  try {
    return (await describeWorkflow(link.session, run, 1)).state === 'running';
  } catch (error) {
    if (!isServerFailure(error)) throw error;
    return undefined;
  } finally {
    await link.close();
  }
}

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== '' && seconds >= 0 && Number.isFinite(seconds)) return seconds;
  throw new InvalidArgumentError('It should be a number of seconds, 0 or more.');
}

/** A missing export is a usage error, not a breach of the run. */
function exportFile(io: Io, named: string): string {
  const file = resolve(io.cwd, named);
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) return file;
  throw new UsageError(`--export: ${JSON.stringify(named)} is not a file.`, {
    reason: 'bad-value',
    fix: 'Name a file that `everturn export --out` wrote.',
  });
}

/** The outcome of the comparison, or why there was none. */
async function compared(
  io: Io,
  { store, out, run }: RunPlace,
  report: OnBreach,
  { histories: wanted }: Flags,
): Promise<HistoriesSummary | string> {
  const link = await openLinkIfUp(io);
  if (!link) {
    if (!wanted) return 'no server answers: the local service is not running, and no cluster can be reached';
    throw new TemporalError('No Temporal server answers, so histories cannot be compared.', {
      reason: 'no-histories',
      fix: '`everturn up` starts the local service; TEMPORAL_ADDRESS names another.',
    });
  }
  try {
    const { session } = link;
    const histories = { rollouts: rolloutHistories(session, run), collection: await collectionHistory(session, run) };
    return await checkHistories(store, out, histories, report);
  } catch (error) {
    if (wanted || !(error instanceof TemporalError)) throw error;
    return error.message;
  } finally {
    await link.close();
  }
}

function historiesLine(histories: HistoriesSummary | string): string {
  if (typeof histories === 'string') return `Temporal's histories were not compared: ${histories}.`;
  const { compared: n, closed, elsewhere, triedAgain } = histories;
  const others = elsewhere > 0 ? ` ${elsewhere} of another run of this name were left out.` : '';
  if (n === 0) return `Temporal's histories were not compared: the server has none of this run.${others}`;
  const tries = triedAgain > 0 ? `, ${plural(triedAgain, 'generation')} retried` : '';
  return `Temporal's histories: ${n} compared (${closed} closed)${tries}.${others}`;
}
