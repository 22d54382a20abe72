// Proves a run's folder: each (query, sample, turn) once, contiguous, judged and logged once; every hash and reward
// right; counts and exports equal to the records. Streams: memory holds a few rollouts, and a line for each one read.

import { createHash } from 'node:crypto';
import { explain, StoreError } from '../../domain/errors/errors.ts';
import { type Outcome, OUTCOMES } from '../../domain/rollout/ending.ts';
import type { ModelIdentity } from '../../domain/weights/model-identity.ts';
import { samplesPerQuery } from '../../domain/samples/group.ts';
import type { CollectionResult } from '../../domain/run/messages.ts';
import { addResult, noCounts } from '../../domain/run/progress.ts';
import { checkJudgements } from './judgements.ts';
import type { Found, RolloutFacts } from './facts.ts';
import { checkFeed, type FeedFacts } from './feed.ts';
import { type ExportFacts, openExportCheck } from './export.ts';
import { mustHoldAll } from '../run/present.ts';
import { checkForeignLogs } from './logs.ts';
import { openRunParts, type PartsOptions } from './parts.ts';
import { openQueriesCheck } from './queries.ts';
import { missingResult, resultProblems } from './result.ts';
import { formProblem } from './checked.ts';
import { checkForced, type ForcedPass } from './kept.ts';
import { checkSteering } from './steering.ts';
import { CLOCK_SKEW_MS } from './end.ts';
import { openTraitsCheck } from './traits.ts';
import { basename } from '../place.ts';
import { NameSet } from '../name-set.ts';
import { ENDED, JUDGEMENTS, RESULT_FILE, ROLLOUTS, RUN_FILE, codeFile } from '../format/layout.ts';
import type { RunRecord } from '../format/run-record.ts';
import type { RecordKind } from '../format/kinds.ts';
import type { OnBreach, Store, Stored } from '../store.ts';
import { isFunction } from '../../domain/agent/index.ts';
import { existsFolder, readText } from '../places/files.ts';

export interface CheckSummary {
  readonly breaches: number;
  readonly queries: number;
  /** Rollouts that have begun, every attempt counted. */
  readonly rollouts: number;
  readonly turns: number;
  readonly ended: number;
  readonly unfinished: number;
  /** Over the last attempt at each sample. */
  readonly byOutcome: Readonly<Record<Outcome, number>>;
  /** Tokens whose kept sets the model itself proved; absent where none was asked. */
  readonly forcedTokens?: number;
  /** Verdicts of later judgements, over all files. */
  readonly judgements: number;
  /** Acts of people: verdicts, notes, retries. */
  readonly acts: number;
  /** The feed's ledger; absent where there is none. */
  readonly feed?: FeedFacts;
  /** The content of an export made now; absent without an exporter. */
  readonly export?: ExportFacts;
}

type ModelHashes = Partial<Pick<ModelIdentity, 'tokenizer' | 'template' | 'weights'>>;

export interface CheckOptions extends PartsOptions {
  /** The hashes of the model's files, as far as they are on this machine. */
  readonly hashes?: ModelHashes | undefined;
  /** Proves kept sets by the model itself, if it is on this machine. */
  readonly forced?: ForcedPass | undefined;
  /** Whether the run's collection is still running; undefined if unknown. */
  readonly isGoing?: () => Promise<boolean | undefined>;
}

export async function checkRun(store: Store, onBreach: OnBreach, options: CheckOptions = {}): Promise<CheckSummary> {
  await mustExist(store.folder);
  let breaches = 0;
  const report: OnBreach = (breach) => {
    breaches++;
    onBreach(breach);
  };
  const read = async <T extends object>(path: string, kind: RecordKind, get: () => Promise<Stored<T> | undefined>) => {
    try {
      const found = await get();
      const problem = found && formProblem(kind, null, found);
      if (problem) report({ path, problem });
      return problem ? undefined : found?.record;
    } catch (error) {
      report({ path, problem: explain(error) });
      return undefined;
    }
  };
  /** A part that reads many rollouts may meet unreadable ones. */
  const readable = async <T>(path: string, part: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await part();
    } catch (error) {
      if (!(error instanceof StoreError) || error.retryable) throw error;
      report({ path, problem: explain(error) });
      return undefined;
    }
  };
  const run = await read(RUN_FILE, 'run', () => store.get('run'));
  const result = await read(RESULT_FILE, 'result', () => store.get('result'));
  const { clockSkewMs = CLOCK_SKEW_MS, hashes = {} } = options;
  for (const problem of hashProblems(run?.model, hashes)) report({ path: RUN_FILE, problem });
  await checkCode(store, run, report);
  const all = openWhole(store, run, result, report);
  let exporting = options.export ? openExportCheck(options.export, report) : undefined;
  const parts = openRunParts(store, run, options);
  for await (const { facts, exported } of parts.of(store.listRollouts(report))) {
    for (const one of facts) await all.rollout(one);
    if (exported instanceof StoreError) {
      if (exporting) report({ path: ENDED, problem: explain(exported) });
      exporting = undefined;
    } else if (exported) await exporting?.part(exported);
  }
  for await (const breach of store.listConflicts()) report(breach);
  const again = async (folder: string) => {
    const id = await store.rolloutIn(folder);
    const found = id && (await parts.facts(id)).found;
    for (const path of found?.logs ?? []) all.logs.add(path);
  };
  const lost = result === undefined ? undefined : await lossOf(store);
  if (lost?.reason === 'record-missing') report({ path: ENDED, problem: explain(lost) });
  await checkForeignLogs(store, { expected: all.logs, again, lost: lost !== undefined }, report);
  const judgements = (await readable(JUDGEMENTS, () => checkJudgements(store, basename(store.folder), report))) ?? 0;
  const acts = await checkSteering(store, basename(store.folder), report, clockSkewMs);
  // A cancelled run need not be complete.
  const concluded = result !== undefined && !('cancelled' in result && result.cancelled);
  const { count, units, exportable, ...totals } = await all.end(concluded);
  if (run?.dataset && units >= count * samplesPerQuery(run) && totals.ended === totals.rollouts) {
    const problem = await missingResult(store, units, options.isGoing);
    if (problem) report({ path: RESULT_FILE, problem });
  }
  const { forced } = options;
  const forcedTokens = forced && (await readable(ROLLOUTS, () => checkForced(store, forced, report)));
  const feed = await checkFeed(store, run, count, report);
  const unfinished = totals.rollouts - totals.ended;
  const exported = await exporting?.end(exportable, concluded && unfinished === 0);
  return {
    ...{ breaches, queries: count, ...totals, unfinished, judgements, acts },
    ...(forcedTokens && { forcedTokens }),
    ...(feed && { feed }),
    ...(exported && { export: exported }),
  };
}

/** Why not all rollouts of an ended run are here; faults of single files are reported where they are read. */
async function lossOf(store: Store): Promise<StoreError | undefined> {
  try {
    await mustHoldAll(store);
    return undefined;
  } catch (error) {
    if (error instanceof StoreError && !error.retryable) return error;
    throw error;
  }
}

async function mustExist(folder: string): Promise<void> {
  if (await existsFolder(folder)) return;
  const fix = 'Name a run under --out, or its folder.';
  throw new StoreError(`there is no run in ${folder}`, { reason: 'no-such-run', fix });
}

function* hashProblems(said: ModelIdentity | null | undefined, hashes: ModelHashes): Generator<string> {
  for (const trait of ['tokenizer', 'template', 'weights'] as const) {
    const [says, is] = [said?.[trait], hashes[trait]];
    if (says && is && says !== is)
      yield `has the hash ${says.slice(0, 12)} of its model's ${trait}; the files here have ${is.slice(0, 12)}`;
  }
}

/** The proof of all rollouts together. Memory: some hundred bytes for each. */
function openWhole(store: Store, run: RunRecord | undefined, claimed: CollectionResult | undefined, report: OnBreach) {
  const compare = openTraitsCheck(report);
  const queries = openQueriesCheck(store, run, report);
  const counts = noCounts();
  const logs = new NameSet();
  /** Samples of the data set whose first attempt has ended. */
  let units = 0;
  const totals = { rollouts: 0, turns: 0, ended: 0 };
  const byOutcome = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<Outcome, number>;
  let exportable = 0;
  const count = ({ outcome, isExported }: Last, by: 1 | -1): void => {
    if (outcome) byOutcome[outcome] += by;
    if (isExported) exportable += by;
  };
  /** The last attempt at a sample that another one may follow, by the folder of the first. */
  const last = new Map<string, Last>();

  return {
    logs,
    async rollout({ id, breaches, found }: RolloutFacts): Promise<void> {
      for (const breach of breaches) report(breach);
      totals.rollouts++;
      if (!found) return;
      const { turns, outcome, isExported, query, counted, traits } = found;
      totals.turns += turns;
      for (const path of found.logs) logs.add(path);
      if (query) await queries.rollout(query, id.attempt);
      if (counted && claimed) addResult(counts, counted, claimed.numTurns);
      compare(traits);
      if (outcome !== undefined) {
        totals.ended++;
        if (id.attempt === 1 && query) units++;
      }
      const known = last.get(traits.of);
      if (known && known.attempt > id.attempt) return;
      if (known) count(known, -1);
      const now = { attempt: id.attempt, outcome, isExported };
      count(now, 1);
      if (outcome !== 'complete' || id.attempt > 1) last.set(traits.of, now);
    },

    async end(concluded: boolean) {
      const played = await queries.all(concluded);
      const expected = played * (run ? samplesPerQuery(run) : 1);
      for (const problem of claimed ? resultProblems(claimed, counts, expected, run) : [])
        report({ path: RESULT_FILE, problem });
      return { count: played, units, exportable, byOutcome, ...totals };
    },
  };
}

interface Last extends Pick<Found, 'outcome' | 'isExported'> {
  readonly attempt: number;
}

async function checkCode(store: Store, run: RunRecord | undefined, onBreach: OnBreach): Promise<void> {
  const { environments = [], tools, program } = run?.settings ?? {};
  const carried = [...environments, ...(tools?.list ?? [])].filter(
    ({ door }) => door === 'module' || door === 'rubric',
  );
  const own = program && isFunction(program) ? [program] : [];
  for (const fingerprint of new Set([...carried, ...own].map((one) => one.fingerprint))) {
    const path = codeFile(fingerprint);
    const code = await readText(`${store.folder}/${path}`);
    const found = code === undefined ? undefined : createHash('sha256').update(code).digest('hex');
    if (found === fingerprint) continue;
    onBreach({ path, problem: found === undefined ? 'is missing' : `is changed: its hash is ${found}` });
  }
}
