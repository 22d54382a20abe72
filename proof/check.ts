// Proves a run's folder: each (query, sample, turn) once, contiguous, judged and logged once; every hash and reward
// right; counts and exports equal to the records. Streams: memory holds a few rollouts, and a line for each one read.

import { setTimeout as sleep } from 'node:timers/promises';
import { explain, StoreError } from '../domain/errors.ts';
import { type Outcome, OUTCOMES } from '../domain/ending.ts';
import type { CallTexts } from '../domain/calls.ts';
import { samplesPerQuery } from '../domain/group.ts';
import type { RolloutId } from '../domain/ids.ts';
import type { CheckTokenizer } from './context.ts';
import { checkCode, checkReplies } from './environments.ts';
import { openCopyCheck } from './copies.ts';
import { checkJudgements } from './judgements.ts';
import { openForkCheck } from './forked-run.ts';
import { checkFeed, type FeedFacts } from './feed.ts';
import { checkExport, type ExportCheck, type ExportFacts } from './export.ts';
import { openLogCheck } from './logs.ts';
import { checkPacks, type PackFacts } from './packs.ts';
import { openQueriesCheck } from './queries.ts';
import { missingResult, openResultCheck } from './result.ts';
import { type CheckedRollout, checkRollout } from './rollout.ts';
import { openRunCheck, type RunCheckFacts } from './run.ts';
import { shapeProblem, textProblem } from './shape.ts';
import { checkSteering } from './steering.ts';
import { PACKS } from '../storage/pack/manifest.ts';
import { basename } from '../storage/place.ts';
import { JUDGEMENTS, RESULT_FILE, RUN_FILE } from '../storage/record/layout.ts';
import { existsFolder, rolloutAt } from '../storage/record/listing.ts';
import type { RecordKind } from '../storage/record/text.ts';
import type { Breach, OnBreach, Store, Stored } from '../storage/store.ts';

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
  /** Verdicts of later judgements, over all files. */
  readonly judgements: number;
  /** Acts of people: verdicts, notes, retries. */
  readonly acts: number;
  /** The feed's ledger; absent where there is none. */
  readonly feed?: FeedFacts;
  /** Absent where there are none. */
  readonly packed?: PackFacts;
  /** The content of an export made now; absent without an exporter. */
  readonly export?: ExportFacts;
}

export interface CheckOptions extends RunCheckFacts {
  readonly export?: ExportCheck;
  /** The tokenizer of the run's model: with it, texts and ids are compared with each other. */
  readonly tokenizer?: CheckTokenizer | undefined;
  /** The formats of calls: with them, the calls are read out of the replies again. */
  readonly calls?: CallTexts | undefined;
  /** The allowed difference between workers' clocks. */
  readonly clockSkewMs?: number | undefined;
  /** Whether the run's collection is still running; undefined if unknown. */
  readonly isGoing?: () => Promise<boolean | undefined>;
}

const AT_ONCE = 16;
const LOOKS = 3;
const LOOK_AGAIN_MS = 100;

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
      const problem = found && (shapeProblem(kind, found.record) ?? (await textProblem(kind, null, found)));
      if (problem) report({ path, problem });
      return problem ? undefined : found?.record;
    } catch (error) {
      report({ path, problem: explain(error) });
      return undefined;
    }
  };
  /** Of a part that reads many rollouts: one pack of them may be unreadable. */
  const readable = async <T>(path: string, part: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await part();
    } catch (error) {
      if (!(error instanceof StoreError) || error.retryable) throw error;
      report({ path, problem: explain(error) });
      return undefined;
    }
  };
  const run = await read(RUN_FILE, 'run', () => store.getRun());
  const result = await read(RESULT_FILE, 'result', () => store.getResult());
  const { tokenizer, clockSkewMs } = options;
  // Another version may read a reply otherwise.
  const calls = options.everturn === run?.versions.everturn ? options.calls : undefined;
  const facts = { tokenizer, clockSkewMs, runAt: run?.createdAt, calls };
  const ofRun = openRunCheck(store, run, report, options);
  await ofRun.run();
  const fork = openForkCheck(store, run, report, clockSkewMs);
  await fork.run();
  await checkCode(store, run, report);
  const copies = openCopyCheck(report);
  const logs = openLogCheck(store, report);
  const queries = openQueriesCheck(store, run, report);
  const counts = openResultCheck(result, report);
  let complete = 0;
  /** Samples of the data set whose first attempt has ended. */
  let units = 0;
  const totals = { rollouts: 0, turns: 0, ended: 0 };
  const byOutcome = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<Outcome, number>;

  /** A rollout that is being written may seem wrong, so it is read a second time. */
  async function look(id: RolloutId): Promise<CheckedRollout | undefined> {
    for (let left = LOOKS; ; left--) {
      const found: Breach[] = [];
      const note: OnBreach = (breach) => found.push(breach);
      const rollout = await checkRollout(store, id, note, facts);
      if (rollout) await logs.rollout(rollout, note);
      if (found.length === 0 || rollout?.end || left === 1) {
        for (const breach of found) report(breach);
        return rollout;
      }
      await sleep(LOOK_AGAIN_MS);
    }
  }

  async function one(id: RolloutId): Promise<void> {
    const rollout = await look(id);
    totals.rollouts++;
    if (!rollout) return;
    totals.turns += rollout.turns.filter((turn) => turn !== undefined).length;
    queries.rollout(rollout);
    counts.rollout(rollout);
    copies(rollout);
    fork.rollout(rollout);
    checkReplies(rollout, report);
    await ofRun.rollout(rollout);
    if (!rollout.end) return;
    totals.ended++;
    if (id.attempt === 1 && rollout.rollout.index !== null) units++;
    const later = await store.getRollout({ ...id, attempt: id.attempt + 1 }).catch(() => undefined);
    if (later) return;
    byOutcome[rollout.end.outcome]++;
    if (options.export && isExported(rollout, rollout.end.outcome, options.export)) complete++;
  }

  await eachAtOnce(store.listRollouts(report), AT_ONCE, one);
  const packed = await checkPacks(store.folder, report);
  await logs.foreign(async (folder) => {
    const id = await rolloutAt(store.folder, folder, () => {});
    const rollout = id && (await checkRollout(store, { run: basename(store.folder), ...id }, () => {}));
    if (rollout) await logs.rollout(rollout, () => {});
  }, packed.logs);
  const judgements = (await readable(JUDGEMENTS, () => checkJudgements(store, basename(store.folder), report))) ?? 0;
  const acts = await checkSteering(store, basename(store.folder), report, clockSkewMs);
  // A cancelled run need not be complete.
  const concluded = result !== undefined && !('cancelled' in result && result.cancelled);
  const count = await queries.all(concluded);
  counts.all(count, run);
  if (run?.dataset && units >= count * samplesPerQuery(run) && totals.ended === totals.rollouts) {
    const problem = await missingResult(store, units, options.isGoing);
    if (problem) report({ path: RESULT_FILE, problem });
  }
  const feed = await checkFeed(store, run, count, report);
  const unfinished = totals.rollouts - totals.ended;
  const seen = { complete, ended: concluded && unfinished === 0 };
  const exported = options.export && (await readable(PACKS, () => checkExport(store, options.export!, seen, report)));
  const summary = {
    queries: count,
    ...totals,
    unfinished,
    byOutcome,
    judgements,
    acts,
    ...(feed && { feed }),
    ...(packed.facts && { packed: packed.facts }),
  };
  return { breaches, ...summary, ...(exported ? { export: exported } : {}) };
}

/** Counted from the verdicts alone, by another method than an export uses to find its turns. */
function isExported(
  { rollout, turns, verdicts, end }: CheckedRollout,
  outcome: Outcome,
  { exporter, undecided, humanTurns }: ExportCheck,
): boolean {
  if (end?.said && humanTurns !== 'include') return false;
  const judged = verdicts.findIndex((verdict) => verdict?.verdict === 'undecided');
  if (outcome !== 'complete' && !(outcome === 'undecided' && undecided === 'finished-turns' && judged > 0))
    return false;
  const exported = (outcome === 'complete' ? turns : turns.slice(0, judged)).slice((rollout.parent?.turn ?? 1) - 1);
  // A fork of which no own turn was played.
  if (exported.length === 0) return false;
  return !exporter.forTraining || exported.every((turn) => turn?.record.trainable !== false);
}

async function mustExist(folder: string): Promise<void> {
  if (await existsFolder(folder)) return;
  const fix = 'Name a run under --out, or its folder.';
  throw new StoreError(`there is no run in ${folder}`, { reason: 'no-such-run', fix });
}

async function eachAtOnce<T>(items: AsyncIterable<T>, width: number, use: (item: T) => Promise<void>) {
  let group: Promise<void>[] = [];
  for await (const item of items) {
    const work = use(item);
    // It is awaited with its group; until then its failure must not count as an unhandled rejection.
    work.catch(() => {});
    group.push(work);
    if (group.length < width) continue;
    await Promise.all(group);
    group = [];
  }
  await Promise.all(group);
}
