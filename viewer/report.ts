// Runs as a report: the viewer's page with its data, in one HTML file that asks nothing of anybody. Holds all numbers of the runs,
// of two runs their comparison, or the tables of an evaluation; of the rollouts those that say most, failures first, then a seeded
// sample; what is left out is named in it.

import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { StoreError } from '../domain/errors/errors.ts';
import { shuffled } from '../domain/run/shuffle.ts';
import { type Bundle, reportHtml } from './assets.ts';
import { MOST_PAIRS } from './compare-runs.ts';
import { markedRows } from './marked-rows.ts';
import type { Asks } from './model/asks.ts';
import type { RolloutMessage, TokensMessage, ReportData, ReportRun, WholeRollout } from './model/messages.ts';
import { endsRight, type Row } from './model/row.ts';
import type { Runs } from './runs.ts';

export interface ReportParts {
  readonly api: Asks;
  readonly runs: Runs;
  readonly bundle: Bundle;
}

export interface ReportOptions {
  /** Whole rollouts of each run, or of an evaluation's runs together, at most. */
  readonly rollouts: number;
  /** Turns have their tokens: a hundred bytes each. */
  readonly tokens: boolean;
  /** A second run, compared with the first. */
  readonly compare?: string;
  /** The name is an evaluation's. */
  readonly isEvaluation?: true;
}

export interface Report {
  readonly html: string;
  readonly rollouts: number;
  readonly left: readonly string[];
  /** Rollouts with damaged records are in none of its numbers, or in none of its lists. */
  readonly isDamaged: boolean;
}

/** Rows in the list of a run, at most. */
const MOST_ROWS = 20_000;
/** The data are compressed above this many characters. */
const MOST_PLAIN = 1_000_000;
const ALL = { filter: '', sort: '' };
const zipped = promisify(gzip);

/** `name`: of a run, or of an evaluation. */
export async function makeReport(from: ReportParts, name: string, options: ReportOptions): Promise<Report> {
  const { isDamaged, ...data } = await gather(from, name, options);
  const rollouts = data.runs.reduce((total, { whole }) => total + whole.length, 0);
  return { html: await htmlOf(data, from.bundle), rollouts, left: data.left, isDamaged };
}

async function gather(
  { api, runs }: ReportParts,
  first: string,
  options: ReportOptions,
): Promise<ReportData & Pick<Report, 'isDamaged'>> {
  const { compare, tokens, isEvaluation } = options;
  const evaluation = isEvaluation && (await api.evaluation(first));
  const cells = evaluation?.benchmarks.flatMap((one) => one.runs.map(({ head }) => head.run));
  const names = cells ?? (compare === undefined ? [first] : [first, compare]);
  for (const name of names) {
    const { index } = await runs.open(name);
    await index.refresh();
    const { problem } = index.progress;
    if (problem !== undefined) throw new StoreError(problem, { reason: 'record-broken' });
  }
  const compared = compare === undefined ? null : await api.compare(first, compare);
  // Rollouts of queries that one run alone has right say most about two runs.
  const apart = compared?.pairs.filter(({ cell }) => cell === 'only-a' || cell === 'only-b') ?? [];
  const differ = new Set(apart.map(({ query }) => query));
  const shareOf = (most: number) => (cells ? Math.floor(most / Math.max(1, cells.length)) : most);
  const parts: ReportRun[] = [];
  const left: string[] = [];
  const counted: Counted[] = [];
  let isDamaged = false;
  for (const name of names) {
    const open = await runs.open(name);
    // Of many runs the first ones were closed since.
    await open.index.refresh();
    const message = await api.run(name);
    const { rows } = await markedRows(open);
    const wanted = { most: shareOf(options.rollouts), differ, wrongFirst: isEvaluation === true };
    const chosen = choose(rows, open.record.settings.seed, wanted);
    const whole = await wholeRollouts(api, name, chosen, tokens);
    const broken = chosen.length - whole.length;
    const { damaged } = open.index.progress;
    isDamaged ||= broken > 0 || damaged !== undefined;
    if (damaged !== undefined) left.push(`${names.length > 1 ? `${name}: ` : ''}${damaged}`);
    const list = rows.length <= shareOf(MOST_ROWS) ? rows : chosen;
    parts.push({ run: message, rows: list, whole });
    const isOpen = message.head.state === 'open';
    counted.push({ all: rows.length, listed: list.length, whole: chosen.length, isOpen });
    const of = names.length > 1 ? `${name}: ` : '';
    if (!cells) left.push(...leftOut(counted.at(-1)!, wanted).map((line) => of + line));
    if (broken > 0)
      left.push(
        `${of}the turns of ${broken} whose records this Everturn cannot read: \`everturn check ${name}\` names them`,
      );
  }
  if (cells) left.unshift(...leftOut(addedUp(counted), { differ, wrongFirst: true }));
  left.push(tokens ? 'digits of logprobs after the fourth' : 'tokens and their logprobs');
  left.push(`${compared ? '' : 'run-to-run comparison and '}live updates, which \`everturn view\` has`);
  if (compared && compared.pairs.length < compared.paired)
    left.push(`of ${compared.paired} pairs of queries those after the first ${MOST_PAIRS} of a kind, by difference`);
  return { runs: parts, ...(evaluation && { evaluation }), compared, left, isDamaged };
}

async function wholeRollouts(
  api: Asks,
  name: string,
  chosen: readonly Row[],
  tokens: boolean,
): Promise<WholeRollout[]> {
  const whole: WholeRollout[] = [];
  for (const row of chosen) {
    const rollout = await unlessBroken(api.rollout(name, row, ALL));
    if (!rollout) continue;
    // Neighbours and samples are found among the rows.
    const own = { ...rollout, samples: [], previous: null, next: null };
    whole.push({ message: own, tokens: tokens ? await tokensOf(api, name, row, rollout) : {} });
  }
  return whole;
}

/** One damaged record takes its own rollout out of a report, and no other. */
async function unlessBroken<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch((error: unknown) => {
    if (error instanceof StoreError && !error.retryable) return undefined;
    throw error;
  });
}

async function tokensOf(api: Asks, run: string, row: Row, { turns }: RolloutMessage): Promise<WholeRollout['tokens']> {
  const tokens: Record<string, TokensMessage> = {};
  for (const { record, hasTokens } of turns)
    if (hasTokens) tokens[record.turn] = shorter(await api.tokens(run, row, record.turn));
  return tokens;
}

interface Wanted {
  /** Rollouts of queries that one run alone has right come first. */
  readonly differ: ReadonlySet<string>;
  /** Wrong ones come before right ones. */
  readonly wrongFirst: boolean;
}

/** Failed and undecided ones first, then those that were spoiled or are wrong, then any; in data set order. */
function choose(
  rows: readonly Row[],
  seed: number,
  { most, differ, wrongFirst }: Wanted & { readonly most: number },
): readonly Row[] {
  if (rows.length <= most) return rows;
  const weight = (row: Row): number => {
    const { query, state, success } = row;
    if (differ.has(query)) return 0;
    if (state === 'failed') return 1;
    if (state === 'undecided') return 2;
    if (wrongFirst) return endsRight(row) ? 4 : 3;
    return success.some((s, i) => s === 0 && success[i - 1] === 1) ? 3 : 4;
  };
  const ranked = shuffled(rows, seed).sort((a, b) => weight(a) - weight(b));
  const chosen = new Set(ranked.slice(0, most));
  return rows.filter((row) => chosen.has(row));
}

/** Rollouts of a run: all, those in its list, and those whose turns are taken. */
interface Counted {
  readonly all: number;
  readonly listed: number;
  readonly whole: number;
  readonly isOpen: boolean;
}

function addedUp(counted: readonly Counted[]): Counted {
  const sum = (of: 'all' | 'listed' | 'whole') => counted.reduce((total, one) => total + one[of], 0);
  const isOpen = counted.some((one) => one.isOpen);
  return { all: sum('all'), listed: sum('listed'), whole: sum('whole'), isOpen };
}

function leftOut({ all, listed, whole, isOpen }: Counted, { differ, wrongFirst }: Wanted): string[] {
  const rest = all - whole;
  const kinds = `failed, undecided and ${wrongFirst ? 'wrong' : 'spoiled'} ones first`;
  const first = `${differ.size > 0 ? 'of queries that one run alone has right, then ' : ''}${kinds}`;
  return [
    ...(listed < all ? [`${all - listed} of ${all} rollouts are not in the list`] : []),
    ...(rest > 0 ? [`the turns of ${rest} of ${all} rollouts: those here are ${first}, then a seeded sample`] : []),
    ...(isOpen ? [`everything after it was made: ${wrongFirst ? 'a' : 'the'} run is still open`] : []),
  ];
}

function shorter(tokens: TokensMessage): TokensMessage {
  return { ...tokens, logprobs: tokens.logprobs.map((value) => Math.round(value * 1e4) / 1e4) };
}

async function htmlOf(data: ReportData, bundle: Bundle): Promise<string> {
  const json = JSON.stringify(data);
  const island =
    json.length > MOST_PLAIN
      ? { type: 'application/gzip', text: (await zipped(json)).toString('base64') }
      : { type: 'application/json', text: inert(json) };
  return reportHtml({ bundle, island: { id: 'report', ...island }, sha: shaOf, title: titleOf(data) });
}

const titleOf = ({ runs, evaluation }: ReportData): string =>
  `${evaluation?.name ?? runs.map(({ run }) => run.head.run).join(' and ')} · Everturn`;

const shaOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** JSON that ends no element and opens no comment; parses to the same value. */
function inert(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
