// `everturn export <run> --format F`: complete trajectories in a trainer's format. Rollouts that are not complete,
// or that the filters or the format leave out, are counted and listed on stderr, with what the format cannot carry.

import { oneLine } from '../../domain/text/foreign-text.ts';
import { EXPORT_FORMATS } from '../../formats/exports/index.ts';
import { logs } from '../../formats/exports/logs.ts';
import { plannedExport } from '../../library/export-plan.ts';
import { untrainedRollouts } from '../../library/untrained-rollouts.ts';
import type { ExportSummary } from '../../records/export/export-run.ts';
import { join, resolvePlace } from '../../records/place.ts';
import type { Store } from '../../records/store.ts';
import type { SkippedRollout } from '../../records/export/selection.ts';
import { command, flag, text, unusable } from '../command.ts';
import { EXIT } from '../exit.ts';
import { EXPORT_FLAGS } from '../export-flags.ts';
import { findRun } from '../find/place.ts';
import { shortPath, commandLine } from '../../library/command-line.ts';
import { JSON_FLAG, OUT, RUN_ARGUMENT } from '../flags.ts';
import { plural } from '../format.ts';
import { untrainedLine } from '../view/untrained.ts';

const LISTED = 20;
/** The extension of a file in a folder that --to names with a slash at its end. */
const endingOf = (format: string): string => EXPORT_FORMATS.find(({ name }) => name === format)?.extension ?? 'jsonl';
const BINARY: Readonly<Record<string, string>> = { parquet: 'Parquet', eval: 'A log of Inspect' };

const width = Math.max(...EXPORT_FORMATS.map(({ name }) => name.length));
const formats = EXPORT_FORMATS.map(({ name, description }) => `  ${name.padEnd(width)} ${description}`).join('\n');

const exported = command({
  args: RUN_ARGUMENT,
  flags: {
    out: OUT,
    to: text('<file>', 'where to write (default: stdout), or a folder/ to write into; of logs a folder'),
    overwrite: flag('replace an existing file once the new one is complete'),
    json: { ...JSON_FLAG, help: 'a summary as JSON on stdout; needs --to' },
    ...EXPORT_FLAGS,
  },
  help: `Formats (docs/formats.md):\n${formats}\n\nExample:\n  everturn export my-run --format areal --to my-run.jsonl`,
  async run(io, given) {
    const { format, to } = given;
    const wanted = to === undefined || to === '-' ? undefined : resolvePlace(io.cwd, to);
    const isFolder = to?.endsWith('/') === true && format !== logs.name;
    if (given.json && wanted === undefined) {
      throw unusable(
        '--json prints its summary on stdout, where the export would go.',
        'Name a file for the export with --to.',
        'json-without-out',
      );
    }
    const binary = BINARY[endingOf(format)];
    if (binary && wanted === undefined && io.out.isTTY) {
      const fix = 'Name a file with --to, or send stdout into one.';
      throw unusable(`${binary} is binary, and stdout is a terminal.`, fix);
    }
    const planned = plannedExport(format, given);
    const place = await findRun(io, given.run, given.out);
    const file = isFolder ? join(wanted!, `${place.run}.${endingOf(format)}`) : wanted;
    const skipped: SkippedRollout[] = [];
    /** Rollouts of one damaged segment have one fault. */
    const faults = new Set<string>();
    const onSkip = (rollout: SkippedRollout) => {
      if (skipped.length < LISTED) skipped.push(rollout);
      if (rollout.outcome === 'broken' && rollout.problem !== null && faults.size < LISTED) faults.add(rollout.problem);
    };
    const target = { to: file ?? process.stdout, overwrite: given.overwrite, onSkip };
    const wasGoing = await isGoing(place.store);
    const { note, summary } = await planned(place.store, target);
    const { empty } = summary;
    const run = (await place.store.get('run'))?.record;
    const untrained = await untrainedRollouts(place.store, run).catch(() => undefined);
    const broken = (summary.skipped['broken'] ?? 0) > 0;
    return {
      json: given.json ? { ...summary, format, file: empty ? null : file } : undefined,
      notes: [
        ...summaryLines(summary, format, wanted !== undefined, skipped),
        ...(isFolder && !empty ? [`They are in ${oneLine(shortPath(io, file!))}.`] : []),
        ...[...faults].map((fault) => `Broken: ${oneLine(fault)}`),
        ...(note ? [`Note: ${note}`] : []),
        ...(untrained ? [untrainedLine(untrained)] : []),
        ...(wasGoing ? ['Note: the run has not ended; what ends later is not in this export.'] : []),
        ...(broken ? [`\`${commandLine(io, place, 'check')}\` names what is broken.`] : []),
      ],
      code: broken ? EXIT.bug : empty ? EXIT.nothing : EXIT.ok,
    };
  },
});

export { exported as export };

/** A rollout that a client started directly is of no run that ends. */
async function isGoing(store: Store): Promise<boolean> {
  const isRun = (await store.get('run'))?.record.dataset;
  return Boolean(isRun) && (await store.get('result')) === undefined;
}

function summaryLines(
  summary: ExportSummary,
  format: string,
  isFile: boolean,
  skipped: readonly SkippedRollout[],
): string[] {
  const left = Object.entries(summary.skipped);
  const more = left.reduce((sum, [, n]) => sum + n, 0) - skipped.length;
  const rest = left.map(([outcome, n]) => `${n} ${outcome}`).join(', ');
  const all = plural(summary.exported, 'trajectory', 'trajectories');
  const { lines, finishedTurns } = summary;
  const partly = finishedTurns > 0 ? `, ${finishedTurns} of them the finished turns of undecided rollouts` : '';
  const many = (lines > 0 || format === 'dpo') && lines !== summary.exported;
  const unit =
    format === 'dpo' ? 'pair' : format.startsWith('parquet') ? 'row' : format === 'inspect' ? 'sample' : 'line';
  const as = many ? ` as ${plural(lines, unit)}` : '';
  const why = summary.skipped['not-trainable']
    ? ' Its model gives text without token ids: --format messages holds it.'
    : '';
  return [
    `${all} exported${as}${partly}${rest ? `; left out: ${rest}.` : '.'}`,
    ...(summary.empty ? [`everturn: Nothing is exported${isFile ? ', and no file is written' : ''}.${why}`] : []),
    ...skipped.map(({ query, sample, outcome }) => `  ${oneLine(query)}, sample ${sample}: ${outcome}`),
    ...(more > 0 ? [`  … and ${more} more`] : []),
  ];
}
