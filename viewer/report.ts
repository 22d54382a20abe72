// A run as one HTML file: the viewer's page with its data inside. It asks nothing of anybody: the policy in it allows its
// own script and style, by their hashes, and no request at all. Holds all numbers of the run; of the rollouts those that
// say most, failures first, then a seeded sample; what is left out is named in it.

import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { shuffled } from '../domain/shuffle.ts';
import type { Api } from './api.ts';
import { type Bundle, reportHtml } from './assets.ts';
import type { RolloutMessage, RunMessage, TokensMessage } from './model/messages.ts';
import type { ReportData } from './model/report-data.ts';
import { type Row, rowKey } from './model/row.ts';
import type { Runs } from './runs.ts';

export interface ReportOptions {
  /** Whole rollouts, at most. */
  readonly rollouts: number;
  /** With their tokens: a hundred bytes each. */
  readonly tokens: boolean;
}

export interface Report {
  readonly html: string;
  readonly rollouts: number;
  readonly left: readonly string[];
}

/** Rows in the list, at most. */
const MOST_ROWS = 20_000;
/** The data are compressed above this many characters. */
const MOST_PLAIN = 1_000_000;
const ALL = { filter: '', sort: '' };
const zipped = promisify(gzip);

export async function makeReport(
  { api, runs, bundle }: { readonly api: Api; readonly runs: Runs; readonly bundle: Bundle },
  run: string,
  options: ReportOptions,
): Promise<Report> {
  const { index, record } = await runs.open(run);
  await index.start();
  await index.glance(index.rows());
  const message = await api.run(run);
  const rows = index.rows();
  const chosen = choose(rows, options.rollouts, record.settings.seed);
  const rollouts: RolloutMessage[] = [];
  const tokens: Record<string, TokensMessage> = {};
  for (const row of chosen) {
    const rollout = await api.rollout(run, row, ALL);
    // Neighbours and samples are found among the rows.
    rollouts.push({ ...rollout, samples: [], previous: null, next: null });
    if (!options.tokens) continue;
    for (const { record, hasTokens } of rollout.turns) {
      if (hasTokens) tokens[`${rowKey(row)} ${record.turn}`] = shorter(await api.tokens(run, row, record.turn));
    }
  }
  const listed = rows.length <= MOST_ROWS ? rows : chosen;
  const left = leftOut(message, rows.length, listed.length, chosen.length, options.tokens);
  const queries = await api.queries(run, 'all', 0, 1);
  const data: ReportData = { run: message, rows: listed, rollouts, tokens, left, queries };
  return { html: await htmlOf(data, bundle), rollouts: chosen.length, left };
}

/** Failed and undecided ones first, then those that were spoiled, then any; in data set order. */
function choose(rows: readonly Row[], most: number, seed: number): readonly Row[] {
  if (rows.length <= most) return rows;
  const weight = ({ state, success }: Row): number =>
    state === 'failed'
      ? 0
      : state === 'undecided'
        ? 1
        : success.some((s, i) => s === 0 && success[i - 1] === 1)
          ? 2
          : 3;
  const ranked = shuffled(rows, seed).sort((a, b) => weight(a) - weight(b));
  const chosen = new Set(ranked.slice(0, most));
  return rows.filter((row) => chosen.has(row));
}

function leftOut({ head }: RunMessage, all: number, listed: number, whole: number, tokens: boolean): string[] {
  const rest = all - whole;
  return [
    ...(listed < all ? [`${all - listed} of ${all} rollouts are not in the list`] : []),
    ...(rest > 0
      ? [
          `the turns of ${rest} of ${all} rollouts: those here are failed, undecided and spoiled ones first, then a seeded sample`,
        ]
      : []),
    ...(tokens ? ['digits of logprobs after the fourth'] : ['tokens and their logprobs']),
    ...(head.state === 'open' ? ['everything after it was made: the run is still open'] : []),
    'run-to-run comparison and live updates, which `everturn view` has',
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
  const sha = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  return reportHtml({ bundle, island, sha, title: `${data.run.head.run} · Everturn` });
}

/** JSON that ends no element and opens no comment; parses to the same value. */
function inert(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
