// Runs as a report: the viewer's page with its data, in one HTML file that asks nothing of anybody. Holds all numbers of the runs, and of two runs their comparison; of the
// rollouts those that say most, failures first, then a seeded sample; what is left out is named in it.

import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { StoreError } from '../domain/errors/errors.ts';
import { shuffled } from '../domain/run/shuffle.ts';
import { type Bundle, reportHtml } from './assets.ts';
import { MOST_PAIRS } from './compare-runs.ts';
import { markedRows } from './marked-rows.ts';
import type { Asks } from './model/asks.ts';
import type {
  RolloutMessage,
  RunMessage,
  TokensMessage,
  ReportData,
  ReportRun,
  WholeRollout,
} from './model/messages.ts';
import type { Row } from './model/row.ts';
import type { Runs } from './runs.ts';

export interface ReportParts {
  readonly api: Asks;
  readonly runs: Runs;
  readonly bundle: Bundle;
}

export interface ReportOptions {
  /** Whole rollouts of each run, at most. */
  readonly rollouts: number;
  /** Turns have their tokens: a hundred bytes each. */
  readonly tokens: boolean;
  /** A second run, compared with the first. */
  readonly compare?: string;
}

export interface Report {
  readonly html: string;
  readonly rollouts: number;
  readonly left: readonly string[];
}

/** Rows in the list of a run, at most. */
const MOST_ROWS = 20_000;
/** The data are compressed above this many characters. */
const MOST_PLAIN = 1_000_000;
const ALL = { filter: '', sort: '' };
const zipped = promisify(gzip);

export async function makeReport(from: ReportParts, run: string, options: ReportOptions): Promise<Report> {
  const data = await gather(from, run, options);
  const rollouts = data.runs.reduce((total, { whole }) => total + whole.length, 0);
  return { html: await htmlOf(data, from.bundle), rollouts, left: data.left };
}

async function gather({ api, runs }: ReportParts, first: string, options: ReportOptions): Promise<ReportData> {
  const { compare, tokens } = options;
  const names = compare === undefined ? [first] : [first, compare];
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
  const parts: ReportRun[] = [];
  const left: string[] = [];
  for (const name of names) {
    const open = await runs.open(name);
    const message = await api.run(name);
    const { rows } = await markedRows(open);
    const chosen = choose(rows, options.rollouts, open.record.settings.seed, differ);
    const whole: WholeRollout[] = [];
    for (const row of chosen) {
      const rollout = await unlessBroken(api.rollout(name, row, ALL));
      if (!rollout) continue;
      // Neighbours and samples are found among the rows.
      const own = { ...rollout, samples: [], previous: null, next: null };
      whole.push({ message: own, tokens: tokens ? await tokensOf(api, name, row, rollout) : {} });
    }
    const broken = chosen.length - whole.length;
    const list = rows.length <= MOST_ROWS ? rows : chosen;
    parts.push({ run: message, rows: list, whole });
    const of = names.length > 1 ? `${name}: ` : '';
    left.push(...leftOut(message, rows.length, list.length, chosen.length, differ.size > 0).map((line) => of + line));
    if (broken > 0)
      left.push(
        `${of}the turns of ${broken} whose records this Everturn cannot read: \`everturn check ${name}\` names them`,
      );
  }
  left.push(tokens ? 'digits of logprobs after the fourth' : 'tokens and their logprobs');
  left.push(`${compared ? '' : 'run-to-run comparison and '}live updates, which \`everturn view\` has`);
  if (compared && compared.pairs.length < compared.paired)
    left.push(`of ${compared.paired} pairs of queries those after the first ${MOST_PAIRS} of a kind, by difference`);
  return { runs: parts, compared, left };
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

/** Failed and undecided ones first, then those that were spoiled, then any; in data set order. */
function choose(rows: readonly Row[], most: number, seed: number, differ: ReadonlySet<string>): readonly Row[] {
  if (rows.length <= most) return rows;
  const weight = ({ query, state, success }: Row): number => {
    if (differ.has(query)) return 0;
    if (state === 'failed') return 1;
    if (state === 'undecided') return 2;
    return success.some((s, i) => s === 0 && success[i - 1] === 1) ? 3 : 4;
  };
  const ranked = shuffled(rows, seed).sort((a, b) => weight(a) - weight(b));
  const chosen = new Set(ranked.slice(0, most));
  return rows.filter((row) => chosen.has(row));
}

function leftOut({ head }: RunMessage, all: number, listed: number, whole: number, differ: boolean): string[] {
  const rest = all - whole;
  const first = `${differ ? 'of queries that one run alone has right, then ' : ''}failed, undecided and spoiled ones first`;
  return [
    ...(listed < all ? [`${all - listed} of ${all} rollouts are not in the list`] : []),
    ...(rest > 0 ? [`the turns of ${rest} of ${all} rollouts: those here are ${first}, then a seeded sample`] : []),
    ...(head.state === 'open' ? ['everything after it was made: the run is still open'] : []),
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

const titleOf = ({ runs }: ReportData): string => `${runs.map(({ run }) => run.head.run).join(' and ')} · Everturn`;

const shaOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** JSON that ends no element and opens no comment; parses to the same value. */
function inert(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
