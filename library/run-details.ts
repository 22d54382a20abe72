// What is known of a run beside its progress: its servers, its feed, evaluations and weights, and what people said.

import { addEntry, countOf, emptyLine } from '../domain/feed/entry.ts';
import { isBiased } from '../domain/rollout/kept-sets.ts';
import type { FeedHead, OpenGroups } from '../domain/feed/lines.ts';
import { oldAnswers } from '../records/reading/group-members.ts';
import { readFleet, STALE_MS } from '../records/run/fleet-status.ts';
import { openWeightsLedger } from '../records/run/weights.ts';
import { sizeOfExperts } from '../records/run/experts.ts';
import type { Store } from '../records/store.ts';
import type { RunPlace } from '../run/place.ts';
import { openEvaluations } from '../viewer/index.ts';
import { askServer } from './ask-server.ts';
import type { Around } from './check.ts';
import { peopleCounts } from './people.ts';
import { untrainedRollouts } from './untrained-rollouts.ts';
import type { RunProgress } from './run-handle.ts';

export type RunDetails = Awaited<ReturnType<typeof detailsOfRun>>;

export async function detailsOfRun(place: RunPlace, { source }: RunProgress, around: Around) {
  const { run, store } = place;
  const { folder } = store;
  const [servers, feed, evaluations, weights, people, stored] = await Promise.all([
    // Each inference server, as the run's workers have reported it.
    readFleet(folder, source === 'result' ? 0 : Date.now() - STALE_MS),
    feedOf(place, around),
    openEvaluations()(folder),
    weightsOf(folder),
    peopleCounts(store),
    // A damaged run.json is for `check` to name.
    store.get('run').catch(() => undefined),
  ]);
  const { forkedFrom = null, train, settings, model } = stored?.record ?? {};
  // Its servers do not say what tokens were drawn from, and a trainer takes them as they are.
  const biased = train !== undefined && settings !== undefined && isBiased(settings);
  const expertsMissing = train !== undefined && model?.hasExperts === true && !model.givesExperts;
  const experts = model?.hasExperts ? await sizeOfExperts(folder) : null;
  const untrained = await untrainedRollouts(store, stored?.record).catch(() => undefined);
  const warnings = {
    ...(biased && { biased }),
    ...(expertsMissing && { expertsMissing }),
    ...(untrained && { untrained }),
  };
  const kept = experts && experts.files > 0 ? { experts } : {};
  return { run, folder, servers, feed, evaluations, weights, people, forkedFrom, ...warnings, ...kept };
}

export interface FeedStatus extends FeedHead {
  readonly source: 'temporal' | 'ledger';
  /** Null where only the ledger is known. */
  readonly open: OpenGroups | null;
  /** Answers do not follow the versions; null where they do. */
  readonly warning: string | null;
}

/** From its workflow if that answers, else from the ledger in the run's folder; null for a run that has none. */
async function feedOf({ run, out, store }: RunPlace, { env, onProgress }: Around): Promise<FeedStatus | null> {
  const record = (await store.get('run').catch(() => undefined))?.record;
  const ledger = await ledgerOf(store);
  if (!record?.train && ledger.entries === 0) return null;
  const warning = await oldAnswers(store).catch(() => null);
  const feed = { run, out, since: record?.createdAt };
  const { feedProgressOf } = await import('../client/temporal/feed.ts');
  const asked = askServer(env, ({ session }) => feedProgressOf(session, feed), onProgress);
  const progress = await asked.catch(() => undefined);
  if (progress) {
    const { version, line, trained, trainedInto, ready, playing, leases, leftOut, admitted, total, concluded } =
      progress;
    const open = { ready, playing, leases, leftOut, admitted, total, concluded };
    return { source: 'temporal', version, line, trained, trainedInto, open, warning };
  }
  const { version, acknowledged, line } = ledger;
  const trainedInto = acknowledged.at(-1)?.version ?? null;
  return { source: 'ledger', version, line, trained: countOf(acknowledged), trainedInto, open: null, warning };
}

/** An entry that is damaged is for `check` to name. */
async function ledgerOf(store: Store) {
  const line = emptyLine();
  const entries = await store.countFeedEntries().catch(() => 0);
  for (let number = 1; number <= entries; number++) {
    const entry = (await store.get('feed', number).catch(() => undefined))?.record;
    if (entry) addEntry(line, entry);
  }
  return { ...line, entries };
}

/** The version that every server must have to be used, and the latest update, which may be the same; null without any. */
async function weightsOf(runFolder: string) {
  const ledger = openWeightsLedger(runFolder);
  const { entries, current } = await ledger.read();
  const latest = entries.at(-1);
  if (!latest) return null;
  const progress = await ledger.progress(latest.number);
  const { version, label, folder, rewind, workflowId, declaredAt } = latest;
  return {
    current: current && { version: current.version, label: current.label, folder: current.folder },
    latest: {
      ...{ version, label, folder, rewind, workflowId, declaredAt },
      state: progress?.state ?? 'running',
      servers: progress?.servers ?? [],
    },
  };
}
