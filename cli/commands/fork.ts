// `everturn fork <run> <query> --from-turn k`: a new run that plays a rollout again from one of its turns on.
// `everturn extend <run> <query> --turns n`: the same behind its last turn. The new run's name follows from the content unless
// it is given, so repeating the command attaches to the same fork.

import { oneLine } from '../../domain/text/foreign-text.ts';
import { safeName } from '../../domain/names/ids.ts';
import type { ForkedFrom } from '../../domain/rollout/lineage.ts';
import { unfitRewards } from '../../domain/rollout/reward.ts';
import { sha256Hex } from '../../domain/text/sha256.ts';
import { resolveOptions } from '../../run/config.ts';
import { planFork } from '../../run/fork.ts';
import { mustBeRunName, completeRunRecord } from '../../run/prepare-run.ts';
import {
  type Answer,
  command,
  flag,
  required,
  text,
  unusable,
  type Values,
  wholeFlag,
  withDefault,
} from '../command.ts';
import type { ExitCode } from '../exit.ts';
import { personOf } from '../find/person.ts';
import { findRun, shellQuoted, shortPath, commandLine } from '../find/place.ts';
import { findRollout, rolloutTitle } from '../../library/find-rollout.ts';
import { runPlace, type RunPlace } from '../../run/place.ts';
import { type Source, sourceOf } from '../find/fork-source.ts';
import { ROLLOUT_ARGUMENTS } from '../flags.ts';
import type { Io } from '../io.ts';
import { playPlanned } from '../play/play-run.ts';
import { callerOf } from '../play/say-event.ts';
import { plural } from '../format.ts';
import { messageOf, OF_ACT, REASON, reasonOf } from './act.ts';

const OF_FORK = {
  ...OF_ACT,
  say: text('<text>', 'a message to the model, behind the feedback before the first turn that is played'),
  name: text('<run>', 'name of the new run (default: derived from its content)'),
  reason: REASON,
  detach: flag('return as soon as the new run has started'),
};
const MOST_SAMPLES = 10_000;

export const fork = command({
  args: ROLLOUT_ARGUMENTS,
  flags: {
    ...OF_FORK,
    fromTurn: required(wholeFlag('<k>', 'the first turn that is played again', 1)),
    samples: withDefault(wholeFlag('<n>', 'rollouts of the fork', 1), 1),
  },
  help:
    'The turns before it are carried over as copies with their hashes; the run itself is only read. Own turns alone are\n' +
    'trained on; a fork with --say is exported with --human-turns include. docs/steer.md\n\nExample:\n' +
    '  everturn fork my-run arith-0007 --from-turn 2 --say "Check the sign." --name what-if',
  async run(io, given) {
    const place = await findRun(io, given.run, given.out);
    const { fromTurn: turn, samples } = given;
    if (samples > MOST_SAMPLES) throw unusable(`--samples is ${samples}.`, `It takes 1 to ${MOST_SAMPLES}.`);
    if (given.say !== undefined && turn === 1) {
      throw unusable(
        'Turn 1 shows the question, and no feedback that a message could follow.',
        'Fork from turn 2 or later, or play a row with another question.',
        'not-allowed',
      );
    }
    const id = await findRollout(place, given);
    const { numTurns = 1 } = (await place.store.get('rollout', id))?.record.settings ?? {};
    const source = await sourceOf(io, place, id, { turn, numTurns: () => numTurns });
    return launchFork(io, { ...given, place, source, how: 'fork', numTurns, samples });
  },
});

export const extend = command({
  args: ROLLOUT_ARGUMENTS,
  flags: { ...OF_FORK, turns: required(wholeFlag('<n>', 'further turns', 1)) },
  help:
    'A fork behind the last turn: the rollout itself, its returns and its accuracy stay as they are. docs/steer.md\n\n' +
    'Example:\n  everturn extend my-run arith-0007 --turns 2',
  async run(io, given) {
    const place = await findRun(io, given.run, given.out);
    const id = await findRollout(place, given);
    const end = (await place.store.get('end', id))?.record;
    if (end && end.stopReason !== 'max-turns') {
      const verb = end.outcome === 'complete' ? 'fork' : 'retry';
      const again = `\`${commandLine(io, place, verb, shellQuoted(oneLine(given.query)))}\``;
      throw unusable(
        `${rolloutTitle(id, null)} ended by ${end.stopReason}; only a rollout that played all of its turns is extended.`,
        end.outcome === 'cancelled' ? 'Begin another run.' : `${again} plays it again.`,
        'not-allowed',
      );
    }
    const source = await sourceOf(io, place, id, { turn: undefined, numTurns: (played) => played + given.turns });
    // The same limits as of --num-turns.
    const { numTurns } = resolveOptions({ flags: { numTurns: String(source.parent.turn - 1 + given.turns) } }).options;
    const unfit = unfitRewards(source.trajectory.rollout.settings, numTurns);
    if (unfit !== null)
      throw unusable(`With ${numTurns} turns, the rewards of this run ${unfit}.`, 'Give fewer --turns.', 'bad-rewards');
    return launchFork(io, { ...given, place, source, how: 'extend', numTurns, samples: 1 });
  },
});

interface ForkLaunch extends Values<typeof OF_FORK> {
  readonly place: RunPlace;
  readonly source: Source;
  readonly how: ForkedFrom['how'];
  readonly numTurns: number;
  readonly samples: number;
}

async function launchFork(io: Io, given: ForkLaunch): Promise<Answer | ExitCode | void> {
  const { place: old, source, samples, numTurns, how, json } = given;
  const [said, reason, by] = [messageOf(given.say), reasonOf(given.reason), await personOf(io, given.by)];
  const { trajectory, runRecord, parent } = source;
  const { rollout } = trajectory;
  const run = given.name ?? nameOfFork(given, said);
  mustBeRunName(run);
  const place = runPlace(old.out, run);
  const { folder } = place.store;
  const from: ForkedFrom = { ...parent, how, said, by, reason, at: io.now() };
  const carried = parent.turn > 1 ? `; ${plural(parent.turn - 1, 'turn')} carried over` : '';
  const message = said === null ? '' : `; with a message of ${oneLine(by)}`;
  const rollouts = `${plural(samples, 'rollout')} of ${oneLine(parent.query)}`;
  const what = `${rollouts} from turn ${parent.turn} on, to turn ${numTurns}${carried}${message}`;
  if (given.dryRun) {
    return {
      json: { run, folder, forkedFrom: from, samples, numTurns },
      text: `Would make run "${run}" in ${shortPath(io, folder)}: ${what}.`,
    };
  }
  const caller = callerOf(io);
  const planned = await planFork(
    {
      ...{ place, from, source: old.store, parentRun: runRecord, rollout, numTurns, samples },
      title: `${parent.run}: ${what}`,
    },
    caller,
  );
  const about = async () => [`From       run "${parent.run}"`, `Playing    ${what}`];
  const shown = { maxFailed: 0, json, detach: given.detach };
  return playPlanned(io, await completeRunRecord(planned, caller), shown, about, { forkedFrom: from });
}

/** `first-fork-1a2b3c4d`: the same fork has the same name. */
function nameOfFork({ source: { parent }, how, samples, numTurns }: ForkLaunch, said: string | null): string {
  const content = JSON.stringify([parent.rolloutHash, parent.turn, parent.hash, said, samples, numTurns]);
  const stem = safeName(parent.run).replace(/~.*/, '').slice(0, 60) || 'run';
  return `${stem}-${how}-${sha256Hex(content).slice(0, 8)}`;
}
