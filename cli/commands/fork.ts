// `everturn fork <run> <query> --from-turn k`: a new run that plays a rollout again from one of its turns on.
// `everturn extend <run> <query> --turns n`: the same behind its last turn. Repeating the command attaches to the same fork.

import { describeFork, type ExtendOptions, type ForkOptions } from '../../library/fork.ts';
import { planFork } from '../../run/fork.ts';
import { completeRunRecord } from '../../run/prepare-run.ts';
import { type Answer, command, flag, required, text, type Values, wholeFlag, withDefault } from '../command.ts';
import type { ExitCode } from '../exit.ts';
import { findRun } from '../find/place.ts';
import { shortPath } from '../../library/command-line.ts';
import { ROLLOUT_ARGUMENTS } from '../flags.ts';
import type { Io } from '../io.ts';
import { playPlanned } from '../play/play-run.ts';
import { callerOf } from '../play/say-event.ts';
import { OF_ACT, REASON } from './act.ts';

const OF_FORK = {
  ...OF_ACT,
  say: text('<text>', 'a message to the model, behind the feedback before the first turn that is played'),
  name: text('<run>', 'name of the new run (default: derived from its content)'),
  reason: REASON,
  detach: flag('return as soon as the new run has started'),
};

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
  run: playFork,
});

export const extend = command({
  args: ROLLOUT_ARGUMENTS,
  flags: { ...OF_FORK, turns: required(wholeFlag('<n>', 'further turns', 1)) },
  help:
    'A fork behind the last turn: the rollout itself, its returns and its accuracy stay as they are. docs/steer.md\n\n' +
    'Example:\n  everturn extend my-run arith-0007 --turns 2',
  run: playFork,
});

type Given = Values<typeof OF_FORK> & { readonly run: string } & (ForkOptions | ExtendOptions);

async function playFork(io: Io, given: Given): Promise<Answer | ExitCode | void> {
  const caller = callerOf(io);
  const described = await describeFork(await findRun(io, given.run, given.out), caller, given);
  const { place, from, what, samples, numTurns } = described;
  const { run, store } = place;
  if (given.dryRun) {
    return {
      json: { run, folder: store.folder, forkedFrom: from, samples, numTurns },
      text: `Would make run "${run}" in ${shortPath(io, store.folder)}: ${what}.`,
    };
  }
  const planned = await completeRunRecord(await planFork(described, caller), caller);
  const about = async () => [`From       run "${from.run}"`, `Playing    ${what}`];
  return playPlanned(io, planned, { maxFailed: 0, json: given.json, detach: given.detach }, about, {
    forkedFrom: from,
  });
}
