// Proves that a fork's run and its rollouts name the same parent, and, where the parent's run is beside it, that the parent has
// these records. A parent that was removed, or made again later under the same name, is not compared.

import { isDeepStrictEqual } from 'node:util';
import { isRunName } from '../../domain/run/ids.ts';
import { parentOf } from '../../domain/rollout/lineage.ts';
import type { CheckedRollout } from './rollout.ts';
import { CLOCK_SKEW_MS } from './times.ts';
import { dirname } from '../place.ts';
import { openFileStore } from '../files.ts';
import { ROLLOUT_FILE, rolloutFolder, RUN_FILE, sayFile } from '../record/layout.ts';
import type { RunRecord } from '../record/run-record.ts';
import type { OnBreach, Store } from '../store.ts';

export function openForkCheck(
  store: Store,
  run: RunRecord | undefined,
  onBreach: OnBreach,
  clockSkewMs = CLOCK_SKEW_MS,
) {
  const from = run?.forkedFrom;
  const say = (problem: string) => onBreach({ path: RUN_FILE, problem });
  return {
    async run(): Promise<void> {
      if (!run || !from) return;
      if (from.at - run.createdAt > clockSkewMs)
        say(`was made at ${run.createdAt}, before it was forked at ${from.at}`);
      if (from.said !== null && from.turn === 1) say('has a person’s message before turn 1, which shows the question');
      if (from.turn > run.settings.numTurns) say(`goes on with turn ${from.turn} of ${run.settings.numTurns}`);
      if (!isRunName(from.run)) return say(`was forked from ${JSON.stringify(from.run)}, which names no run`);
      if (from.run === run.run) return say('was forked from itself');
      const parent = openFileStore(dirname(store.folder), from.run);
      // A parent that cannot be read is for its own check to name.
      const there = await parent.getRun().catch(() => undefined);
      if (!there) return;
      if (there.hash !== from.runHash) {
        if (there.record.createdAt <= from.at) say(`was forked from another run "${from.run}" than the one beside it`);
        return;
      }
      const id = { run: from.run, query: from.query, sample: from.sample, attempt: from.attempt };
      const rollout = await parent.getRollout(id).catch(() => null);
      const last = from.turn > 1 ? await parent.getTurn(id, from.turn - 1).catch(() => null) : rollout;
      if (rollout === undefined || (rollout && rollout.hash !== from.rolloutHash))
        say(`was forked from a rollout that run "${from.run}" beside it does not have`);
      else if (last === undefined || (last && last.hash !== from.hash))
        say(`goes on behind a turn ${from.turn - 1} that run "${from.run}" beside it does not have`);
    },

    rollout({ id, rollout, turns, messages }: CheckedRollout): void {
      const { parent } = rollout;
      const path = `${rolloutFolder(id)}/${ROLLOUT_FILE}`;
      if (!run) return;
      if (!from && parent) onBreach({ path, problem: `has a parent, and ${RUN_FILE} has none` });
      if (from && !parent) onBreach({ path, problem: `has no parent; ${RUN_FILE} was forked from run "${from.run}"` });
      if (from && parent && !isDeepStrictEqual(parentOf(from), parent))
        onBreach({ path, problem: `has another parent than ${RUN_FILE}` });
      // Played without the person's message, or with one that the run does not have.
      const first = from && turns[from.turn - 1]?.record;
      if (from && first && (first.said?.text ?? null) !== from.said) {
        const [of, has] = [from.said, first.said?.text].map((text) =>
          text == null ? 'no message' : JSON.stringify(text),
        );
        say(`has ${of} of a person before turn ${from.turn}; the turn of ${rolloutFolder(id)} has ${has}`);
      }
      // The message is the fork's own: written with the name and the time of its run.json.
      const own = from?.said == null ? undefined : messages.get(from.turn)?.record;
      if (from && own && (own.by !== from.by || own.at !== from.at)) {
        const [said, sent] = [from, own].map(({ by, at }) => `${JSON.stringify(by)} at ${at}`);
        onBreach({
          path: `${rolloutFolder(id)}/${sayFile(from.turn)}`,
          problem: `is a message of ${sent}; ${RUN_FILE} names ${said}`,
        });
      }
    },
  };
}
