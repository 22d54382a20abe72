// The numbers of a training run at each weight version, each once it changes no more: once a rollout that began more than
// `maxStaleness` versions later has ended (its groups are trained then), no rollout with an answer of it is in flight, and its
// evaluation has ended; or the run has.

import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from '../domain/errors/errors.ts';
import type { RunPlace } from '../run/place.ts';
import {
  type Evaluation,
  openEvaluations,
  type OpenRun,
  openRuns,
  openTrainedAt,
  versionsOf,
  type VersionSummary,
} from '../viewer/index.ts';

const POLL_MS = 2_000;
const CHECK = '`everturn check` names what is broken.';

interface Following {
  /** False: only what is known now. */
  readonly follow: boolean;
  readonly signal: AbortSignal;
  /** Why the next version waits; each cause once. */
  readonly onWait: (version: number, why: string) => void;
}

export interface VersionNumbers extends VersionSummary {
  readonly eval?: Pick<Evaluation, 'run' | 'rollouts' | 'right' | 'meanReturn' | 'tokens' | 'answeredBy'>;
}

export async function* versionsOfRun(
  place: RunPlace,
  { follow, signal, onWait }: Following,
): AsyncGenerator<VersionNumbers> {
  const runs = openRuns(place.out);
  try {
    const open = await runs.open(place.run);
    const look = openLooks(open);
    let told: string | undefined;
    for (let last = -1; ; await sleep(POLL_MS, undefined, { signal }).catch(() => {})) {
      // The result is written behind the last end.
      const goesOn = (await runs.head(open)).state === 'open';
      const { known, waiting } = await look(last, goesOn);
      for (const at of known) {
        yield at;
        last = at.version;
      }
      if (waiting && waiting.why !== told) onWait(waiting.version, waiting.why);
      told = waiting?.why ?? told;
      if ((!goesOn && !waiting) || !follow || signal.aborted) return;
    }
  } finally {
    runs.close();
  }
}

/** A look at the versions behind the `last` one that was told. */
function openLooks(open: OpenRun) {
  const { store, shape, index, record } = open;
  const { maxStaleness = 0 } = record.train ?? {};
  const { every } = record.evaluation ?? {};
  const [evaluationsOf, trainedAt] = [openEvaluations(), openTrainedAt()];
  return async (last: number, goesOn: boolean) => {
    await index.refresh();
    const { damaged, problem = damaged } = index.progress;
    if (problem !== undefined) throw new StoreError(problem, { reason: 'record-broken', fix: CHECK });
    const rows = index.rows();
    const versions = versionsOf(rows, shape, record.train && (await trainedAt(open)));
    const inFlight = rows.flatMap((row) => (row.state === 'open' ? (row.turns.versions?.[0] ?? []) : []));
    const evaluations = new Map((await evaluationsOf(store.folder)).map((one) => [one.version, one]));
    const newest = versions.at(-1)?.version ?? 0;
    const until = goesOn ? Math.min(newest - maxStaleness, ...inFlight) : Infinity;
    // A version is told once, behind its evaluation.
    const isWaited = (version: number) => {
      const found = evaluations.get(version);
      if (found) return found.state === 'open';
      return every !== undefined && goesOn && version % every === 0;
    };
    const all = withEvaluations(versions, evaluations).filter(({ version }) => version > last);
    const first = all.findIndex(({ version }) => version >= until || isWaited(version));
    if (first < 0) return { known: all };
    const { version } = all[first]!;
    const later = version + maxStaleness + 1;
    const why =
      newest < later && goesOn
        ? `no rollout that began with version ${later} or later has ended`
        : version < until
          ? 'its evaluation has not ended'
          : `a rollout with an answer of version ${Math.min(...inFlight)} is in flight`;
    return { known: all.slice(0, first), waiting: { version, why } };
  };
}

/** Also the versions that no rollout of the run began with. */
function withEvaluations(
  versions: readonly VersionSummary[],
  evaluations: ReadonlyMap<number, Evaluation>,
): VersionNumbers[] {
  const none = { rollouts: 0, meanReturn: null, right: null, tokens: null, staleness: null };
  const alone = [...evaluations.keys()].filter((version) => !versions.some((at) => at.version === version));
  return [...versions, ...alone.map((version) => ({ version, ...none }))]
    .sort((a, b) => a.version - b.version)
    .map((at) => {
      const found = evaluations.get(at.version);
      if (!found) return at;
      const { run, rollouts, right, meanReturn, tokens, answeredBy } = found;
      return { ...at, eval: { run, rollouts, right, meanReturn, tokens, answeredBy } };
    });
}
