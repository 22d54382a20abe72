// `everturn log <run>`: the numbers of a run at each weight version, one JSON line each, until the run has ended: once a rollout
// that began more than `--max-staleness` versions later has ended (its groups are trained then), no rollout with an answer
// of it is in flight, and its evaluation has ended. `python3 -m everturn.log` hands them to Weights & Biases or TensorBoard.

import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from '../../domain/errors/errors.ts';
import { openEvaluations } from '../../viewer/evaluations.ts';
import type { Evaluation } from '../../viewer/model/messages.ts';
import { type VersionSummary, versionsOf } from '../../viewer/model/summary.ts';
import { openTrainedAt } from '../../viewer/counts.ts';
import { openRuns } from '../../viewer/runs.ts';
import { command } from '../command.ts';
import { findRun } from '../find/place.ts';
import { OUT, RUN_ARGUMENT } from '../flags.ts';
import { printJson, say } from '../io.ts';

const POLL_MS = 2_000;
const CHECK = '`everturn check` names what is broken.';

export const log = command({
  args: RUN_ARGUMENT,
  flags: { out: OUT, follow: { no: 'only what is known now, without waiting for the end', fallback: true } },
  help: 'A line: {"version", "rollouts", "meanReturn", "right", "tokens", "staleness"}, null where nothing is known; an\nevaluated version (--eval) also has {"eval": {"run", "rollouts", "right", "meanReturn", "tokens", "answeredBy"}}.\n\nExample:\n  everturn log first > first.jsonl',
  async run(io, { run, out, follow }) {
    const place = await findRun(io, run, out);
    const runs = openRuns(place.out);
    const left = io.interrupted();
    try {
      const open = await runs.open(place.run);
      const { maxStaleness = 0 } = open.record.train ?? {};
      const { every } = open.record.evaluation ?? {};
      const [evaluationsOf, trainedAt] = [openEvaluations(), openTrainedAt()];
      let said: string | undefined;
      for (let last = -1; ; await sleep(POLL_MS, undefined, { signal: left }).catch(() => {})) {
        // The result is written behind the last end.
        const { state } = await runs.head(open);
        await open.index.refresh();
        const { problem } = open.index.progress;
        if (problem !== undefined) throw new StoreError(problem, { reason: 'record-broken', fix: CHECK });
        const rows = open.index.rows();
        const versions = versionsOf(rows, open.shape, open.record.train && (await trainedAt(open)));
        const inFlight = rows.flatMap((row) => (row.state === 'open' ? (row.turns.versions?.[0] ?? []) : []));
        const evaluations = new Map((await evaluationsOf(open.store.folder)).map((one) => [one.version, one]));
        const newest = versions.at(-1)?.version ?? 0;
        const until = state === 'open' ? Math.min(newest - maxStaleness, ...inFlight) : Infinity;
        // A version is printed once, behind its evaluation.
        const isWaited = (version: number) => {
          const found = evaluations.get(version);
          if (found) return found.state === 'open';
          return every !== undefined && state === 'open' && version % every === 0;
        };
        const all = withEvaluations(versions, evaluations).filter(({ version }) => version > last);
        const first = all.findIndex(({ version }) => version >= until || isWaited(version));
        for (const at of first < 0 ? all : all.slice(0, first)) {
          printJson(io, at);
          last = at.version;
        }
        const waiting = all[first]?.version;
        if (waiting !== undefined) {
          const later = waiting + maxStaleness + 1;
          const cause =
            newest < later && state === 'open'
              ? `no rollout that began with version ${later} or later has ended`
              : waiting < until
                ? 'its evaluation has not ended'
                : `a rollout with an answer of version ${Math.min(...inFlight)} is in flight`;
          if (cause !== said) say(io, `Version ${waiting} waits: ${cause}.`);
          said = cause;
        }
        if ((state !== 'open' && first < 0) || !follow || left.aborted) return;
      }
    } finally {
      runs.close();
    }
  },
});

/** Also the versions that no rollout of the run began with. */
function withEvaluations(versions: readonly VersionSummary[], evaluations: ReadonlyMap<number, Evaluation>) {
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
