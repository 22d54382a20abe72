// An evaluation as text, as Markdown for a paper or a model card, and as JUnit XML for continuous integration.

import { explain } from '../../domain/errors/errors.ts';
import { oneLine, short } from '../../domain/text/foreign-text.ts';
import type { RefusedCell } from '../../library/evaluate/cells.ts';
import type { EvaluationTable } from '../../library/evaluate/table.ts';
import type { InForce } from '../../records/format/settings-in-force.ts';
import type { Estimate } from '../../domain/statistics/estimate.ts';
import { costText } from '../find/prices.ts';
import { clock, count, lines, percents, share } from '../format.ts';
import type { Io } from '../io.ts';
import { points, pText, runsText } from './comparison-text.ts';

type Runs = EvaluationTable['benchmarks'][number]['runs'];
type Row = Runs[number] & { readonly benchmark: string };

export const rowsOf = ({ benchmarks }: EvaluationTable): Row[] =>
  benchmarks.flatMap(({ benchmark, runs }) => runs.map((run) => ({ benchmark, ...run })));

export function evaluationText(io: Io, table: EvaluationTable, refused: readonly RefusedCell[]): string {
  const rows = rowsOf(table);
  const [first] = table.benchmarks;
  const about = lines(
    first!.runs.length > 1 &&
      `Differences are with ${oneLine(first!.runs[0]!.label)}, query by query (paired t-test, one p for each row).`,
    'Tokens and seconds are those of an answer.',
  ).join(' ');
  return lines(
    runsText(io, rows, about),
    '',
    settingsLines(table),
    provisionalLines(rows),
    refused.map((cell) => `Not played: ${refusedText(cell)}`),
  ).join('\n');
}

export const refusedText = ({ benchmark, label, refused }: RefusedCell): string =>
  oneLine(`${benchmark} with ${label || 'the usual model'}: ${explain(refused)}`);

function settingsLines({ settings, differing }: EvaluationTable): string[] {
  return lines(
    settings.length > 0 && `Settings   ${inForce(settings)}`,
    Object.entries(differing).map(([run, own]) => `  ${oneLine(run)}: ${inForce(own)}`),
  );
}

const inForce = (settings: readonly InForce[]): string =>
  settings.map(({ name, value }) => `${name} ${short(oneLine(JSON.stringify(value)), 60)}`).join(', ');

function provisionalLines(rows: readonly Row[]): string[] {
  return rows.flatMap(({ run, ended, total }) =>
    ended < total ? [`Provisional: ${count(ended)} of ${count(total)} rollouts of ${oneLine(run)} have ended.`] : [],
  );
}

/** Benchmarks × models, at the last turn, and the settings below. */
export function evaluationMarkdown(table: EvaluationTable, refused: readonly RefusedCell[]): string {
  const labels = [...new Set(table.benchmarks.flatMap(({ runs }) => runs.map(({ label }) => label)))];
  const cellOf = (runs: Runs, label: string): string => {
    const run = runs.find((one) => one.label === label);
    if (!run) return '–';
    const { accuracy, leftOutWrong, passAtAll, against } = run.atTurns.at(-1)!;
    const difference = against?.difference;
    return lines(
      `${share(accuracy.value)} (${percents(accuracy.interval)})`,
      passAtAll && `pass@${run.repeats} ${share(passAtAll.value)}`,
      leftOutWrong && `${share(leftOutWrong.value)} with what was left out as wrong`,
      difference?.value != null && `${points(difference.value)}, p ${pText(difference.p)}`,
      run.cost && `cost ${costText(run.cost).replace(/:.*/, '')}`,
      run.tookSeconds !== null && `time ${clock(1000 * run.tookSeconds)}`,
    ).join('<br>');
  };
  const title = (runs: Runs): string => {
    const { accuracy } = runs[0]!.atTurns.at(-1)!;
    return `${accuracyName(accuracy, runs[0]!.repeats)}, ${count(Math.max(...runs.map((run) => run.atTurns.at(-1)!.accuracy.n)))} problems`;
  };
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const escaped = (text: string) => oneLine(text).replace(/[\\|`*_[\]<>#]/g, '\\$&');
  return lines(
    row(['', '', ...labels.map(escaped)]),
    row(['---', '---', ...labels.map(() => '---')]),
    table.benchmarks.map(({ benchmark, runs }) =>
      row([escaped(benchmark), title(runs), ...labels.map((label) => cellOf(runs, label))]),
    ),
    '',
    'In brackets: the 95 % interval.',
    '',
    settingsLines(table).map((line) => `- ${escaped(line.trim().replace(/ {2,}/, ': '))}`),
    refused.map((cell) => `- Not played: ${escaped(refusedText(cell))}`),
  ).join('\n');
}

/** `avg@32`: the mean of so many samples of each problem. */
export const accuracyName = ({ name }: Estimate, repeats: number): string =>
  repeats > 1 ? name.replace('pass@1', `avg@${repeats}`) : name.replace('pass@1', 'accuracy');

/** What a gate says of a cell; null: it passes. */
export interface Judged {
  readonly benchmark: string;
  readonly label: string;
  readonly seconds: number | null;
  readonly fault: string | null;
}

/** A suite for each benchmark, a case for each of its models. */
export function junitXml(name: string, judged: readonly Judged[]): string {
  const suites = [...new Set(judged.map(({ benchmark }) => benchmark))].map((benchmark) => {
    const own = judged.filter((one) => one.benchmark === benchmark);
    const cases = own.map(({ label, seconds, fault }) => {
      const head = `    <testcase classname=${quoted(benchmark)} name=${quoted(label)} time="${(seconds ?? 0).toFixed(3)}"`;
      return fault === null ? `${head}/>` : `${head}><failure message=${quoted(fault)}/></testcase>`;
    });
    return `  <testsuite name=${quoted(benchmark)} ${counts(own)}>\n${cases.join('\n')}\n  </testsuite>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name=${quoted(name)} ${counts(judged)}>\n${suites.join('\n')}\n</testsuites>\n`;
}

const counts = (all: readonly Judged[]): string =>
  `tests="${all.length}" failures="${all.filter(({ fault }) => fault !== null).length}"`;

/** Without the characters that XML 1.0 does not have. */
const quoted = (text: string): string =>
  `"${oneLine(text)
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '')
    .replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`)}"`;
